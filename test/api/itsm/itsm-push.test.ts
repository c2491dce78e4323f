import { describe, expect, it } from 'vitest';
import { createCards } from '../../../domain/inventory/cards/bulk/bulk.create.ts';
import { query } from '../../../platform/database.ts';
import { ok, type TestClient } from '../../support/harness.ts';
import { syncBase as base, openSyncTest } from '../../support/itsm.ts';
import { untilStatus } from '../../support/jobs.ts';

const TABLE = 'cmdb_ci_business_app';

const { t, db, admin, instance, connect, storeMapping, runMapping, applyPlan, staged } = await openSyncTest();
instance.rate.rule = { limit: 1_000, windowMs: 1_000, retryAfter: true, headers: true };
const mapping = await storeMapping({
  connectionId: await connect(),
  direction: 'push',
  more: { sync_mode: 'conservative', max_deletion_ratio: 1 },
});

const make = async (name: string): Promise<string> =>
  (await admin.card({ name, description: `About ${name}` })).id;
const push = (query = '') => runMapping(mapping, 'push', query);
const outside = () =>
  [...instance.store.of(TABLE)].map(({ values }) => [values.name, values.short_description]).sort();
const recordIdOf = async (cardId: string): Promise<string> =>
  (await db('itsm_pairs').where({ mapping_id: mapping, card_id: cardId }).first()).remote_id;

describe('a mapping that only pushes', () => {
  const cards: string[] = [];

  it('creates records for cards, except for a card whose record may exist', async () => {
    instance.elsewhere.insert(TABLE, { name: 'Theirs alone' });
    instance.elsewhere.insert(TABLE, { name: 'On both', short_description: 'Said outside' });
    for (const name of ['One', 'Two', 'On both']) cards.push(await make(name));
    const run = await push();
    expect(run).toMatchObject({ status: 'completed', complete: true, direction: 'push' });
    expect(run.stats).toMatchObject({ created: 2, errors: 0, findings: 0, budget: { limit: 1_000 } });
    expect(Object.keys(run.stats.seconds)).toEqual(
      expect.arrayContaining(['read', 'match', 'plan', 'apply', 'verify']),
    );
    expect(outside().map(([name]) => name)).toEqual(['On both', 'One', 'Theirs alone', 'Two']);
    expect(await db('cards').where({ type: 'Application', status: 'ACTIVE' })).toHaveLength(3);
    const pairs = await db('itsm_pairs').where({ mapping_id: mapping }).orderBy('origin');
    expect(pairs.map(({ origin }) => origin)).toEqual(['linked', 'pushed', 'pushed']);
  });

  it('writes nothing when there is nothing to do', async () => {
    const writes = instance.writes.length;
    const before = await db('cards').where({ type: 'Application' }).max('updated_at');
    const run = await push();
    expect(run).toMatchObject({ status: 'completed', complete: false, stats: { created: 0, updated: 0 } });
    expect(instance.writes).toHaveLength(writes);
    expect(await db('cards').where({ type: 'Application' }).max('updated_at')).toEqual(before);
  });

  it('pushes changes, and reads everything before it creates records for new cards', async () => {
    await admin.patch(`/api/v1/cards/${cards[0]}`, { description: 'Changed here' });
    const edited = await push();
    expect(edited).toMatchObject({ status: 'completed', complete: false, stats: { updated: 1, created: 0 } });
    expect(outside()).toContainEqual(['One', 'Changed here']);
    // it was there before the last reading: only a complete one shows it
    cards.push(await make('Theirs alone'), await make('Three'));
    const grown = await push();
    expect(grown).toMatchObject({ status: 'completed', complete: true, stats: { created: 1, errors: 0 } });
    expect(outside().filter(([name]) => name === 'Theirs alone')).toHaveLength(1);
    expect(outside()).toContainEqual(['Three', 'About Three']);
    expect(await push()).toMatchObject({ status: 'completed', complete: false, stats: { planned: {} } });
  });

  it('removes only the records that it has created', async () => {
    const [made, , linked] = cards;
    const [gone, kept] = [await recordIdOf(made!), await recordIdOf(linked!)];
    for (const id of [made, linked]) await ok(admin.post(`/api/v1/cards/${id}/archive`));
    const first = await push();
    expect(first).toMatchObject({ status: 'completed', stats: { planned: { quarantine: 1, unlink: 1 } } });
    expect(instance.store.rows.has(gone)).toBe(true);
    expect(await push()).toMatchObject({ status: 'completed', stats: { deleted: 1, errors: 0 } });
    expect([instance.store.rows.has(gone), instance.store.rows.has(kept)]).toEqual([false, true]);
    expect((await push()).stats).toMatchObject({ planned: {} });
  });

  it('plans again for cards that were restored while its plan was in review', async () => {
    const card = cards[1]!;
    const pair = `${base}/mappings/${mapping}/pairs/${await recordIdOf(card)}`;
    await ok(admin.post(`${pair}/unmap`), 204);
    await admin.patch(`/api/v1/cards/${card}`, { description: 'While it was out' });
    await admin.patch(`/api/v1/cards/${cards[3]}`, { description: 'Another change' });
    const waiting = await push('?auto_apply=false');
    expect(waiting).toMatchObject({ status: 'review', stats: { planned: { update: 1 } } });
    await ok(admin.post(`${pair}/map`), 204);
    expect(await applyPlan(waiting.id)).toMatchObject({ status: 'completed', stats: { updated: 1 } });
    expect(await push()).toMatchObject({ status: 'completed', stats: { updated: 1 } });
    expect(outside()).toContainEqual(['Two', 'While it was out']);
  });

  it('hides costs in the texts of a run from users who may not see them', async () => {
    const reader = await t.holding('inventory.view', 'itsm_sync.view');
    const run = await push('?complete=true');
    const column = JSON.stringify({ card_field: 'attributes.costTotalAnnual', remote_field: 'u_cost' });
    await query(db).run`
      update itsm_runs set mapping = jsonb_set(mapping, '{fields}', jsonb_build_array(${column}::jsonb))
        where id = ${run.id}`;
    const messages = [
      "Row 1: 'attributes.costTotalAnnual' is 5 instead of 6.",
      "'7x' in 'u_cost' is not a number",
    ];
    await db('itsm_run_log').insert(
      messages.map((message) => ({ run_id: run.id, level: 'warning', stage: 'verify', message })),
    );
    await db('itsm_plan_rows').insert({
      run_id: run.id,
      no: 0,
      action: 'link',
      row: { reason: messages[1], diff: {}, agreed: {}, candidates: [] },
      progress: 'stale',
      message: messages[0],
    });
    const told = async (client: TestClient) => {
      const of = async (list: string) => (await client.get(`${base}/sync/runs/${run.id}/${list}`)).text;
      return `${await of('log')} ${await of('staged')}`;
    };
    for (const message of messages) {
      expect(await told(admin)).toContain(message);
      expect(await told(reader)).not.toContain(message);
    }
    expect(await told(reader)).toContain('The run is done.');
  });

  it('does not remove a record that is changed just before', async () => {
    const card = await make('Four');
    await push();
    const record = await recordIdOf(card);
    await admin.post(`/api/v1/cards/${card}/archive`);
    expect((await push()).stats).toMatchObject({ planned: { quarantine: 1 } });
    // it is read first with others, then alone
    let looks = 0;
    instance.watch = ({ kind, query }) => {
      if (kind !== 'list' || !query.includes(record)) return;
      looks += 1;
      if (looks === 2) instance.elsewhere.update(record, { short_description: 'Still needed' });
    };
    const run = await push();
    instance.watch = undefined;
    expect([looks >= 2, run.stats]).toMatchObject([true, { deleted: 0, errors: 1 }]);
    expect(await staged(run.id, '&status=error')).toMatchObject([
      { outcome: 'stale', error_message: expect.stringContaining('just before it was to be deleted') },
    ]);
    expect(instance.store.rows.get(record)?.values.short_description).toBe('Still needed');
  });
});

describe('a connection that is paused', () => {
  const TABLE = 'cmdb_ci_service';
  let connection: string;
  let many: string;
  const active = (is_active: boolean) => admin.patch(`${base}/connections/${connection}`, { is_active });
  /** Pauses it with the n-th call of a kind of a run. @returns how the run ends. */
  const pausedAt = async (kind: string, nth: number) => {
    let seen = 0;
    instance.watch = (call) => {
      if (call.kind !== kind) return;
      seen += 1;
      if (seen === nth) void active(false);
    };
    const { body } = await admin.post(`${base}/sync/push/${many}`);
    await untilStatus(t.services, body.job_id, 'failed', 30_000);
    instance.watch = undefined;
    expect((await admin.get(`${base}/sync/runs/${body.id}`)).body).toMatchObject({
      status: 'failed',
      error_code: 'wrong_state',
      error_message: 'The connection is paused: set its is_active to true, and run again.',
    });
  };

  it('stops active runs, and the next run resumes their work', async () => {
    const count = 230;
    const rows = Array.from({ length: count }, (_, row_index) => ({
      row_index,
      type: 'BusinessContext',
      name: `Context ${row_index}`,
    }));
    await createCards(await t.ctx(), rows, false);
    connection = await connect();
    many = await storeMapping({
      connectionId: connection,
      cardType: 'BusinessContext',
      table: TABLE,
      direction: 'push',
    });
    await pausedAt('list', 1);
    expect((await admin.post(`${base}/sync/push/${many}`)).body).toMatchObject({ code: 'wrong_state' });
    expect(instance.store.of(TABLE)).toHaveLength(0);
    await active(true);
    // of three parts, the first is under way
    await pausedAt('create', 3);
    expect(instance.store.of(TABLE)).toHaveLength(100);
    await active(true);
    expect((await runMapping(many, 'push')).stats).toMatchObject({ created: count - 100, errors: 0 });
    expect(instance.store.of(TABLE)).toHaveLength(count);
  });
});

describe('a bidirectional mapping that is only pulled or pushed', () => {
  const make = async (type: string, name: string): Promise<string> => (await admin.card({ type, name })).id;
  const describedHere = async (type: string, name: string) =>
    (await db('cards').where({ type, name, status: 'ACTIVE' }).first('description'))?.description;
  const told = (table: string) =>
    [...instance.store.of(table)].map(({ values }) => [values.name, values.short_description]);

  it('reads a delta after it has pulled everything, and leaves the other direction to bidirectional runs', async () => {
    const table = 'cmdb_ci_server';
    const ids = ['A', 'B', 'C'].map((name) => instance.elsewhere.insert(table, { name }).values.sys_id!);
    const both = await storeMapping({ connectionId: await connect(), cardType: 'ITComponent', table });
    const pull = () => runMapping(both, 'pull');
    expect(await pull()).toMatchObject({ status: 'completed', complete: true, stats: { created: 3 } });
    const card = await db('cards').where({ name: 'A', type: 'ITComponent' }).first('id');
    await admin.patch(`/api/v1/cards/${card.id}`, { description: 'said here' });
    await make('ITComponent', 'Ours');
    instance.elsewhere.update(ids[1]!, { short_description: 'said outside' });
    instance.elsewhere.insert(table, { name: 'D' });
    const writes = instance.writes.length;
    expect(await pull()).toMatchObject({
      status: 'completed',
      complete: false,
      // the local change is reported once, and not written
      stats: { created: 1, updated: 1, planned: { create: 1, update: 1, skip: 1 } },
    });
    expect(await pull()).toMatchObject({ status: 'completed', complete: false, stats: { planned: {} } });
    expect(instance.writes).toHaveLength(writes);
    expect(await runMapping(both)).toMatchObject({
      status: 'completed',
      complete: true,
      stats: { created: 1, updated: 1, errors: 0 },
    });
    expect(told(table)).toEqual(
      expect.arrayContaining([
        ['A', 'said here'],
        ['Ours', undefined],
      ]),
    );
    expect(await runMapping(both)).toMatchObject({ complete: false, stats: { planned: {} } });
  });

  it('reads a delta after a push, and everything before it creates a record for a new card', async () => {
    const table = 'cmdb_ci_appl';
    const type = 'BusinessCapability';
    instance.elsewhere.insert(table, { name: 'Theirs' });
    const card = await make(type, 'Ours');
    const both = await storeMapping({ connectionId: await connect(), cardType: type, table });
    const pushBoth = () => runMapping(both, 'push');
    expect(await pushBoth()).toMatchObject({ status: 'completed', complete: true, stats: { created: 1 } });
    const { remote_id } = await db('itsm_pairs').where({ mapping_id: both }).first('remote_id');
    await admin.patch(`/api/v1/cards/${card}`, { description: 'said here' });
    const late = instance.elsewhere.insert(table, { name: 'Late' }).values.sys_id!;
    expect(await pushBoth()).toMatchObject({ complete: false, stats: { created: 0, updated: 1 } });
    expect(await pushBoth()).toMatchObject({ complete: false, stats: { planned: {} } });
    // a record that the last reading has passed over is this card's
    await make(type, 'Late');
    expect(await pushBoth()).toMatchObject({ complete: true, stats: { created: 0, planned: { link: 1 } } });
    expect(await db('itsm_pairs').where({ remote_id: late })).toMatchObject([{ origin: 'linked' }]);
    instance.elsewhere.update(remote_id, { short_description: 'said outside' });
    expect(await pushBoth()).toMatchObject({ complete: false, stats: { updated: 0, planned: { skip: 1 } } });
    expect(await runMapping(both)).toMatchObject({
      status: 'completed',
      complete: true,
      stats: { created: 1, updated: 1, errors: 0 },
    });
    expect([await describedHere(type, 'Ours'), await describedHere(type, 'Theirs')]).toEqual([
      'said outside',
      null,
    ]);
  });

  it('pushes at once a card that leads over a change that a pull has read before', async () => {
    const table = 'cmdb_ci_appl';
    const record = instance.elsewhere.insert(table, { name: 'Led' }).values.sys_id!;
    const both = await storeMapping({
      connectionId: await connect(),
      cardType: 'DataObject',
      table,
      more: { filter_query: 'name=Led' },
      rule: 'local_leads',
    });
    expect(await runMapping(both)).toMatchObject({ status: 'completed', stats: { created: 1 } });
    const card = await db('cards').where({ name: 'Led', type: 'DataObject' }).first('id');
    await admin.patch(`/api/v1/cards/${card.id}`, { description: 'said here' });
    instance.elsewhere.update(record, { short_description: 'said outside' });
    expect(await runMapping(both, 'pull')).toMatchObject({ stats: { updated: 0, planned: { skip: 1 } } });
    // deltas overlap; by now the change outside is older
    await db('itsm_sync_states')
      .where({ mapping_id: both })
      .update({ watermark: db.raw(`watermark + interval '5 minutes'`) });
    const run = await runMapping(both);
    expect(run).toMatchObject({ complete: false, stats: { updated: 1, planned: { update: 1 } } });
    expect(await staged(run.id)).toMatchObject([
      {
        outcome: 'applied',
        reason: expect.stringContaining('was changed on both sides; the inventory leads'),
      },
    ]);
    expect(told(table)).toContainEqual(['Led', 'said here']);
    expect(await runMapping(both)).toMatchObject({ complete: false, stats: { planned: {} } });
  });
});
