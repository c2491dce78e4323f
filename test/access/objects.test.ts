import { randomUUID } from 'node:crypto';
import { closeAfterAll, pluck, type TestClient, type TestResponse } from '../support/harness.ts';
import { findDuplicates } from './matrix/ai-analysis.data.ts';
import { finding } from './matrix/compliance.data.ts';
import { expectRefusal, ok } from './refusal.ts';
import { createWorld } from './world.ts';

const w = closeAfterAll(await createWorld());
/** Holds no application permission. */
const participant = await w.client('participant');

/** A viewer, who may change nothing by application permission, and sees no costs. */
const viewer = await w.client('viewer');

const refused = (permission: string, act: () => Promise<TestResponse>) => expectRefusal(w, permission, act);
describe('a stakeholder role', () => {
  test('gives no more than it says', async () => {
    const observed = await w.card();
    await w.stakeholder(observed, viewer.userId, 'observer');
    ok(await viewer.get(`/api/v1/cards/${observed}`));
    await refused('inventory.edit', () => viewer.patch(`/api/v1/cards/${observed}`, { alias: 'Seen' }));
  });

  test('on a parent does not reach its children, whose right is asked as well', async () => {
    const unit = { type: 'Organization' };
    const parent = await w.card(unit);
    const child = await w.card({ ...unit, parent_id: parent });
    await w.stakeholder(parent, participant.userId, 'responsible');
    await refused('inventory.archive', () =>
      participant.post(`/api/v1/cards/${parent}/archive`, { child_strategy: 'cascade' }),
    );
    await w.stakeholder(child, participant.userId, 'responsible');
    ok(await participant.post(`/api/v1/cards/${parent}/archive`, { child_strategy: 'cascade' }));
  });

  test('is asked of every row of many', async () => {
    const own = await w.card();
    await w.stakeholder(own, viewer.userId, 'technical_application_owner');
    const target = { id: await w.card({ type: 'ITComponent' }) };
    const operation = { action: 'upsert', type: 'relAppToITC', target };
    const answer = await viewer.post('/api/v1/relations/bulk', {
      operations: [
        { ...operation, row_index: 0, source: { id: own } },
        { ...operation, row_index: 1, source: { id: await w.card() } },
      ],
    });
    ok(answer);
    expect(pluck(answer.body.results, 'code')).toEqual([null, 'forbidden']);
    expect(answer.body).toMatchObject({ upserted: 1, failed: 1 });
  });

  test('changes many at once only where all are theirs', async () => {
    const [own, second, foreign] = [await w.ownCard(), await w.ownCard(), await w.card()];
    const updates = { alias: 'Mine' };
    await refused('inventory.bulk_edit', () =>
      participant.patch('/api/v1/cards/bulk', { ids: [own], updates }),
    );
    // may change many at once, but each only by a right on it
    const permissions = JSON.stringify({ 'inventory.bulk_edit': true });
    await w.t.services.db('roles').insert({ key: 'many', label: 'Many', permissions });
    const hand = await w.t.as('many');
    for (const card of [own, second]) await w.stakeholder(card, hand.userId, 'responsible');
    ok(await hand.patch('/api/v1/cards/bulk', { ids: [own, second], updates }));
    await refused('inventory.edit', () => hand.patch('/api/v1/cards/bulk', { ids: [own, foreign], updates }));
    await refused('inventory.archive', () =>
      participant.post('/api/v1/cards/bulk-archive', { card_ids: [own, foreign] }),
    );
    await refused('inventory.delete', () =>
      participant.post('/api/v1/cards/bulk-delete', { card_ids: [second] }),
    );
    ok(await participant.post('/api/v1/cards/bulk-archive', { card_ids: [second] }));
    ok(await participant.post('/api/v1/cards/bulk-restore', { card_ids: [second] }));
  });

  test('merges their cards with one another, and with no other', async () => {
    const [survivor_id, other] = [await w.ownCard(), await w.ownCard()];
    const merge = (id: string) => participant.post('/api/v1/cards/merge', { survivor_id, merged_ids: [id] });
    const foreign = await w.card();
    await refused('inventory.edit', () => merge(foreign));
    ok(await merge(other));
  });
});

test('a survey is answered by whoever is asked, with no permission besides, and by nobody else', async () => {
  const own = await w.ownCard();
  const admin = await w.client('admin');
  const made = await admin.post('/api/v1/surveys', {
    name: 'Owners?',
    target_type_key: 'Application',
    target_filters: { card_ids: [own] },
    target_roles: ['responsible'],
    fields: [{ key: 'businessCriticality' }],
  });
  ok(made, 201);
  await refused('surveys.respond', () => participant.get('/api/v1/surveys/my'));
  ok(await admin.post(`/api/v1/surveys/${made.body.id}/send`));
  const mine = await participant.get('/api/v1/surveys/my');
  expect(mine.body.items).toMatchObject([{ survey_id: made.body.id, items: [{ card_id: own }] }]);
  const form = `/api/v1/surveys/${made.body.id}/respond/${own}`;
  ok(await participant.get(form));
  const other = `/api/v1/surveys/${made.body.id}/respond/${await w.card()}`;
  await refused('surveys.respond', () => participant.get(other));
  await refused('surveys.respond', () => participant.post(other, { responses: {} }));
  const integrator = await w.client('integrator');
  await refused('surveys.respond', () => integrator.post(form, { responses: {} }));
  await refused('surveys.manage', () => participant.get(`/api/v1/surveys/${made.body.id}/responses`));
  ok(await participant.post(form, { responses: { businessCriticality: { new_value: 'missionCritical' } } }));
  ok(await participant.get('/api/v1/surveys/my'));
  await w.t.services.db('stakeholders').where({ card_id: own }).delete();
  // the card is no longer seen, and so is its form
  await refused('surveys.respond', () => participant.get(form));
});

describe('costs', () => {
  const cost = (body: { attributes: Record<string, unknown> }) => body.attributes.costTotalAnnual;

  test('show on own cards only, without costs.view', async () => {
    expect(cost((await participant.get(`/api/v1/cards/${await w.ownCard()}`)).body)).toBe(4711);

    const mine = await w.card({ attributes: { costTotalAnnual: 1 } });
    const other = await w.card({ attributes: { costTotalAnnual: 2 } });
    await w.stakeholder(mine, viewer.userId, 'responsible');
    expect(cost((await viewer.get(`/api/v1/cards/${mine}`)).body)).toBe(1);
    expect(cost((await viewer.get(`/api/v1/cards/${other}`)).body)).toBeUndefined();
    const list = await viewer.get(`/api/v1/cards?ids=${mine},${other}&sort_by=created_at`);
    expect(list.body.items.map(cost)).toEqual([1, undefined]);
    const member = await w.client('member');
    expect(cost((await member.get(`/api/v1/cards/${other}`)).body)).toBe(2);
  });

  test('are cut from history and feed, and cannot be told from order or filter', async () => {
    const after = await viewer.position();
    const mine = await w.card({ attributes: { costTotalAnnual: 8150001 } });
    const other = await w.card({ attributes: { costTotalAnnual: 8150002 } });
    await w.stakeholder(mine, viewer.userId, 'responsible');
    const shown = async (client: TestClient) =>
      (
        await Promise.all([
          client.get(`/api/v1/changes?after=${after}`),
          client.get(`/api/v1/cards/${mine}/history`),
          client.get(`/api/v1/cards/${other}/history`),
        ])
      ).map(({ text }) => ['8150001', '8150002'].filter((value) => text.includes(value)));
    expect(await shown(await w.client('member'))).toEqual([['8150001', '8150002'], ['8150001'], ['8150002']]);
    expect(await shown(viewer)).toEqual([['8150001'], ['8150001'], []]);
    await refused('costs.view', () => viewer.get('/api/v1/cards?sort_by=attributes.costTotalAnnual'));
  });

  test('cannot be written by those who do not see them', async () => {
    const card = await w.card({ attributes: { costTotalAnnual: 3 } });
    // may edit every card, but sees no costs
    await w.t.services.db('roles').insert({
      key: 'editor',
      label: 'Editor',
      permissions: JSON.stringify({ 'inventory.view': true, 'inventory.edit': true }),
    });
    const editor = await w.t.as('editor');
    await refused('costs.view', () =>
      editor.patch(`/api/v1/cards/${card}`, { attributes: { costTotalAnnual: 4 } }),
    );
    ok(
      await editor.patch(`/api/v1/cards/${card}`, { attributes: { businessCriticality: null }, alias: 'E' }),
    );
    expect(cost((await (await w.client('member')).get(`/api/v1/cards/${card}`)).body)).toBe(3);
  });
});

test('a refusal names the key that the request lacks, whatever else the operation may need', async () => {
  const send = (kind: string) =>
    viewer.request({
      method: 'POST',
      url: `/api/v1/imports?kind=${kind}`,
      headers: { 'content-type': 'text/csv' },
      payload: 'type,source_external_id,target_external_id\nrelAppToITC,A,B\n',
    });
  await refused('relations.manage', () => send('relations'));
  await refused('inventory.create', () => send('cards'));

  const exporting = { 'inventory.view': true, 'inventory.export': true };
  await w.t.services
    .db('roles')
    .insert({ key: 'exporter', label: 'Exporter', permissions: JSON.stringify(exporting) });
  const exporter = await w.t.as('exporter');
  ok(await exporter.post('/api/v1/exports', { format: 'csv', kind: 'cards' }), 202);
  await refused('relations.view', () =>
    exporter.post('/api/v1/exports', { format: 'csv', kind: 'relations' }),
  );
});

test('the own account can be changed, but not its role or state', async () => {
  const somebody = await w.passing('participant');
  const own = `/api/v1/users/${somebody.userId}`;
  ok(await somebody.patch(own, { display_name: 'Somebody', locale: 'de' }));
  await refused('admin.users', () => somebody.patch(own, { role: 'admin' }));
  await refused('admin.users', () => somebody.patch(own, { is_active: false }));
});

const keeper = 'keeper_of_all';
const analysis = '/api/v1/ai-analysis';
const admin = await w.client('admin');
const permissions = { 'card.view': true, 'card.edit': true, 'card.archive': true };
const role = { key: keeper, label: 'Keeper', permissions };
ok(await admin.post('/api/v1/metamodel/types/Application/stakeholder-roles', role), 201);
const rights = [
  'inventory.view',
  'inventory.create',
  'relations.view',
  'relations.manage',
  'adr.manage',
  'ai_analysis.view',
  'ai_analysis.manage',
  'compliance.view',
  'compliance.manage',
  'grc.view',
  'grc.manage',
];

const held = JSON.stringify(Object.fromEntries(rights.map((right) => [right, true])));
await w.t.services.db('roles').insert({ key: 'analyst', label: 'Analyst', permissions: held });
/** May run analyses and decide about what they find, but nothing to cards on which they hold no role. */
const analyst = await w.t.as('analyst');

const hold = (card: string) => w.stakeholder(card, analyst.userId, keeper);
test('duplicates are merged', async () => {
  const merge = (cluster: string) => analyst.post(`${analysis}/duplicates/${cluster}/merge`, {});
  const [mine, theirs] = [await findDuplicates(w), await findDuplicates(w)];
  for (const card of mine.card_ids) await hold(card);
  await expectRefusal(w, 'inventory.edit', () => merge(theirs.cluster_id));
  ok(await merge(mine.cluster_id));
});

test('a verdict on AI changes the card', async () => {
  const verdict = (id: string) =>
    analyst.post(`/api/v1/compliance/findings/${id}/ai-verdict`, { verdict: 'confirm' });
  const card = await w.card();
  const [mine, theirs] = [await finding(w, { card_id: card }), await finding(w)];
  await hold(card);
  await expectRefusal(w, 'inventory.edit', () => verdict(theirs));
  ok(await verdict(mine));
});

test('a target architecture retires stored cards', async () => {
  const commit = async (card: string) => {
    const stored = await w.t.services.db('cards').where({ id: card }).first('name');
    const retired = { id: card, change: 'retired', type: 'Application', name: stored.name, attributes: {} };
    const session_data = JSON.stringify({ architecture: { cards: [retired], relations: [] } });
    const [kept] = await w.t.services
      .db('assessments')
      .insert({ title: randomUUID(), requirement: 'Anything', session_data })
      .returning('id');
    const period = { startDate: '2027-01-01', endDate: '2027-12-31' };
    const chosen = { selectedCardIds: [card], selectedRelationIndices: [] };
    const body = { assessmentId: kept.id, initiativeName: randomUUID(), ...period, ...chosen };
    return () => analyst.post(`${analysis}/architect/commit`, body);
  };
  const [mine, theirs] = [await w.card(), await w.card()];
  await hold(mine);
  await expectRefusal(w, 'inventory.edit', await commit(theirs));
  ok(await (await commit(mine))());
});

describe('a card that the caller may not see', () => {
  test('is not named as the parent in exports', async () => {
    const secret = await w.card({ type: 'Organization', name: 'Hidden parent', external_id: 'H-1' });
    const child = await w.card({ type: 'Organization', name: 'Visible child', parent_id: secret });
    const permissions = JSON.stringify({ 'inventory.export': true });
    await w.t.services.db('roles').insert({ key: 'parents', label: 'Parents', permissions });
    const exporter = await w.t.as('parents');
    await w.stakeholder(child, exporter.userId, 'responsible');
    for (const url of ['cards/export/csv', 'extracts/cards?format=csv']) {
      const { status, text } = await exporter.get(`/api/v1/${url}`);
      expect([status, text.includes('Visible child'), /Hidden parent|H-1/.test(text)]).toEqual([
        200,
        true,
        false,
      ]);
    }
  });

  test('is unknown to findings and statements of architecture work', async () => {
    const permissions = JSON.stringify({
      'compliance.manage': true,
      'compliance.view': true,
      'grc.view': true,
      'grc.manage': true,
      'soaw.manage': true,
      'soaw.view': true,
    });
    await w.t.services.db('roles').insert({ key: 'auditor', label: 'Auditor', permissions });
    const auditor = await w.t.as('auditor');
    const card_id = await w.card();
    const about = {
      regulation: 'gdpr',
      requirement: 'A record',
      status: 'partial',
      severity: 'low',
      card_id,
    };
    for (const answer of [
      await auditor.post('/api/v1/compliance/findings', about),
      await auditor.post('/api/v1/soaw', { name: 'Statement', initiative_id: card_id }),
    ])
      expect([answer.status, answer.body.errors?.[0].code]).toEqual([422, 'unknown_card']);
  });
});
