/** What the recipes of the guide remove. */

import { readFile } from 'node:fs/promises';
import { ok } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';

const { db, admin, instance, connect, runMapping, applyPlan, questions, insert } = await openSyncTest();
const connection = await connect();
const page = await readFile('docs/integrations/itsm-mappings.md', 'utf8');
const blocks = page.slice(page.indexOf('## Recipes')).matchAll(/```json\n(.*?)```/gs);
const recipes: Record<string, unknown>[] = [...blocks].map(([, block]) => JSON.parse(block!));

beforeEach(async () => {
  // each recipe has the inventory to itself
  await db('itsm_mappings').update({ is_active: false });
  await db('cards').whereIn('type', ['Application', 'ITComponent']).update({ status: 'ARCHIVED' });
});
/** Sets up the recipe, but for when it runs by itself. @returns the mapping's id. */
async function setUp(what: { mode: string; direction: string }): Promise<string> {
  const recipe = recipes.find(
    ({ sync_mode, sync_direction }) => sync_mode === what.mode && sync_direction === what.direction,
  );
  expect(recipe).toBeDefined();
  const body = { ...recipe, connection_id: connection, schedule: null, follows_changes: false };
  const made = await admin.create(`${base}/mappings`, body);
  expect(await ok(admin.post(`${base}/mappings/${made.id}/validate`))).toMatchObject({ valid: true });
  return made.id;
}
/** Lets what is in quarantine have been there for so many hours more. */
const pass = async (hours: number) => {
  await db('itsm_pairs')
    .whereNotNull('since')
    .update({ since: db.raw('since - make_interval(hours => ?)', [hours]) });
};
const named = async (type: string, status = 'ACTIVE'): Promise<string[]> =>
  await db('cards').where({ type, status }).orderBy('name').pluck('name');

it('additive: nothing, neither cards of gone records nor those outside the filter', async () => {
  const [gone, unfit, edited] = ['Gone', 'No longer fits', 'Edited'].map((name) =>
    insert('cmdb_ci_business_app', { name, operational_status: '1', install_date: '2020-01-31' }),
  );
  const mapping = await setUp({ mode: 'additive', direction: 'pull' });
  const first = await runMapping(mapping, 'pull', '?auto_apply=true');
  expect(first).toMatchObject({ status: 'completed', stats: { created: 3, errors: 0 } });
  instance.elsewhere.remove(gone!);
  instance.elsewhere.update(unfit!, { operational_status: '2', short_description: 'not for us' });
  instance.elsewhere.update(edited!, { short_description: 'new' });
  for (const query of ['?auto_apply=true', '?auto_apply=true&complete=true']) {
    const run = await runMapping(mapping, 'pull', query);
    expect(run).toMatchObject({ status: 'completed', stats: { deleted: 0 } });
    await pass(48);
  }
  expect(await named('Application')).toEqual(['Edited', 'Gone', 'No longer fits']);
  const described = await db('cards').where({ type: 'Application', status: 'ACTIVE' });
  expect(described.map(({ description }) => description).filter(Boolean)).toEqual(['new']);
});

it('conservative: what it has created, after quarantine and within the deletion limit', async () => {
  const hosts = Array.from({ length: 40 }, (_, at) =>
    insert('cmdb_ci_server', { name: `Host ${at}`, serial_number: `S-${at}` }),
  );
  await admin.card({ type: 'ITComponent', name: 'Host 0', external_id: 'S-0' });
  const mapping = await setUp({ mode: 'conservative', direction: 'pull' });
  const pull = (query = '') => runMapping(mapping, 'pull', query);
  // a plan that affects more than a tenth of all pairs is in review
  const first = await pull();
  expect(first).toMatchObject({
    status: 'review',
    stopped: null,
    stats: { planned: { create: 39, link: 1 } },
  });
  expect(await applyPlan(first.id)).toMatchObject({ status: 'completed' });
  const [linked, made, back, ...others] = hosts;
  instance.elsewhere.remove(linked!);
  instance.elsewhere.remove(made!);
  expect(await pull()).toMatchObject({
    status: 'completed',
    stats: { planned: { quarantine: 1 }, deleted: 0 },
  });
  await pass(12);
  expect(await pull()).toMatchObject({ status: 'completed', stats: { deleted: 0 } });
  await pass(24);
  expect(await pull()).toMatchObject({ status: 'completed', stats: { deleted: 1, errors: 0 } });
  const left = await named('ITComponent');
  expect([left.length, left.includes('Host 0'), left.includes('Host 1')]).toEqual([39, true, false]);
  // an archived card is restored with its record only if a user approves it; the deletion limit stops larger plans
  for (const id of [back!, ...others.slice(0, 4)]) instance.elsewhere.remove(id);
  const stopped = await pull();
  expect(stopped).toMatchObject({ status: 'review', stats: { planned: { quarantine: 5 } } });
  expect(stopped.stopped).toContain('5 removals');
  const refused = await admin.post(`${base}/sync/runs/${stopped.id}/apply`, {});
  expect(refused.body).toMatchObject({ code: 'wrong_state', stopped: stopped.stopped });
  await admin.post(`${base}/sync/runs/${stopped.id}/cancel`);
  expect(await named('ITComponent')).toHaveLength(39);
});

it('strict: every mapped record whose card is gone, but none whose card no longer matches the filter', async () => {
  const table = 'cmdb_ci_appl';
  const subtype = 'businessApplication';
  const theirs = insert(table, { name: 'On both' });
  const cards: string[] = [];
  for (const name of ['On both', 'Made', 'Unfit'])
    cards.push((await admin.card({ type: 'Application', name, subtype })).id);
  await admin.card({ type: 'Application', name: 'Outside the filter' });
  const mapping = await setUp({ mode: 'strict', direction: 'push' });
  const push = () => runMapping(mapping, 'push', '?auto_apply=true');
  expect(await push()).toMatchObject({ status: 'completed', stats: { created: 2, errors: 0 } });
  const records = () =>
    [...instance.store.of(table)]
      .map(({ values }) => [values.name, values.short_description, values.operational_status])
      .sort();
  expect(records()).toEqual([
    ['Made', 'no description', '1'],
    // it existed: both sides agree, and nothing is written
    ['On both', undefined, undefined],
    ['Unfit', 'no description', '1'],
  ]);
  await admin.post(`/api/v1/cards/${cards[0]}/archive`);
  await admin.patch(`/api/v1/cards/${cards[2]}`, { subtype: null, description: 'no longer told' });
  expect(await push()).toMatchObject({ status: 'completed', stats: { planned: { quarantine: 1 } } });
  expect(instance.store.rows.has(theirs)).toBe(true);
  await pass(48);
  expect(await push()).toMatchObject({ status: 'completed', stats: { deleted: 1, errors: 0 } });
  expect(records()).toEqual([
    ['Made', 'no description', '1'],
    ['Unfit', 'no description', '1'],
  ]);
});

it('bidirectional: the newer change wins, and undecided conflicts become review items', async () => {
  const record = insert('cmdb_ci_service', { name: 'Both', busines_criticality: '1 - most critical' });
  const mapping = await setUp({ mode: 'conservative', direction: 'bidirectional' });
  const run = () => runMapping(mapping);
  expect(await run()).toMatchObject({ status: 'completed', stats: { created: 1, errors: 0 } });
  const card = await db('cards').where({ name: 'Both', status: 'ACTIVE' }).first();
  expect(card.attributes).toMatchObject({ businessCriticality: 'missionCritical' });
  await admin.patch(`/api/v1/cards/${card.id}`, { description: 'older', name: 'Ours' });
  instance.store.skew = 60_000;
  instance.elsewhere.update(record, { short_description: 'newer', name: 'Theirs' });
  instance.store.skew = 0;
  expect(await run()).toMatchObject({ status: 'completed', stats: { updated: 1, planned: { conflict: 1 } } });
  const row = await db('cards').where({ id: card.id }).first();
  expect(row).toMatchObject({ description: 'newer', name: 'Ours' });
  expect(await questions(mapping)).toMatchObject([{ path: 'name', local: 'Ours', remote: 'Theirs' }]);
});
