import { openApp, pluck } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);
const { eventsOf, expectRefused, idle } = writesOf(t);

type Row = Record<string, unknown>;
const unit = { type: 'BusinessCapability' };
const create = (rows: Row[], dry_run = false, client = admin) =>
  client.post('/api/v1/cards/bulk-create', {
    cards: rows.map((row, n) => ({ row_index: n + 1, type: 'Application', ...row })),
    dry_run,
  });
const outcomes = (body: { results: { status: string; code: string | null }[] }) =>
  body.results.map(({ status, code }) => (code ? `${status}: ${code}` : status));

it('creates cards below stored ones and below earlier rows, each with its event', async () => {
  const top = await admin.card({ ...unit, name: 'Insurance' });
  const rows = [
    { ...unit, name: ' Claims ', parent_id: top.id.toUpperCase() },
    { ...unit, name: 'Handling', parent_path: ['insurance', ' CLAIMS'] },
    { ...unit, name: 'Fast', parent_path: ['Insurance', 'Claims'], parent_name: 'Handling' },
    { ...unit, name: 'Slow', parent_name: 'handling', attributes: { isCoreCapability: true } },
    { ...unit, name: 'Macro', attributes: { capabilityLevel: 'Macro' }, parent_path: [] },
    { ...unit, name: 'Below', parent_name: 'Macro', external_id: 'B-1', approval_status: 'APPROVED' },
  ];
  const { answer, events } = await eventsOf(() => create(rows));
  expect(outcomes(answer.body)).toEqual(Array(6).fill('created'));
  expect(answer.body).toMatchObject({ created: 6, failed: 0, dry_run: false });
  expect(events.map(({ event_type }) => event_type)).toEqual(Array(6).fill('card.created'));
  const ids = pluck(answer.body.results, 'id');
  const made = await Promise.all(ids.map(async (id: string) => (await admin.get(card(id))).body));
  expect(made.map((one) => [one.name, one.parent_id, one.attributes.capabilityLevel])).toEqual([
    ['Claims', top.id, 'L2'],
    ['Handling', ids[0], 'L3'],
    ['Fast', ids[1], 'L4'],
    ['Slow', ids[1], 'L4'],
    ['Macro', null, 'Macro'],
    ['Below', ids[4], 'L1'],
  ]);
  expect(made[5]).toMatchObject({ approval_status: 'APPROVED', created_by: admin.userId });
  const single = await admin.card({ ...unit, name: 'Single', attributes: { isCoreCapability: true } });
  expect(made[3].data_quality).toBe(single.data_quality);
  expect(events[3]!.data.changes).toMatchObject({
    name: { old: null, new: 'Slow' },
    'attributes.isCoreCapability': { old: null, new: true },
    data_quality: { old: null, new: single.data_quality },
  });
});

it('reports what single creations would refuse, row by row, and stops no other row', async () => {
  await admin.card({ name: 'There', external_id: 'THERE' });
  const [a, b] = [await admin.card({ ...unit, name: 'A' }), await admin.card({ ...unit, name: 'B' })];
  for (const parent_id of [a.id, b.id]) await admin.card({ ...unit, name: 'Twin', parent_id });
  const gone = await admin.card({ ...unit, name: 'Gone' });
  await admin.post(card(gone.id, '/archive'));
  const rows: [Row, string][] = [
    [{ name: 'Fresh', external_id: 'FRESH' }, 'created'],
    [{ name: 'fresh ' }, 'failed: sibling_name_taken'],
    [{ name: 'Other', external_id: 'FRESH' }, 'failed: external_id_taken'],
    [{ name: 'there' }, 'failed: sibling_name_taken'],
    [{ name: 'Another', external_id: 'THERE' }, 'failed: external_id_taken'],
    [{ name: 'Odd', type: 'Nope' }, 'failed: unknown_type'],
    [{ name: 'Odd', attributes: { nope: 1 } }, 'failed: unknown_attribute'],
    [{ name: 'Odd', attributes: { timeModel: 'nope' } }, 'failed: unknown_option'],
    [{ ...unit, name: 'Bad', lifecycle: { active: '2020-02-30' } }, 'failed: bad_date'],
    [{ ...unit, name: 'Child', parent_path: ['Bad'] }, 'failed: unknown_parent'],
    [{ ...unit, name: 'Child', parent_id: NOBODY }, 'failed: unknown_parent'],
    [{ ...unit, name: 'Child', parent_name: 'Nobody' }, 'failed: unknown_parent'],
    [{ ...unit, name: 'Child', parent_name: 'Twin' }, 'failed: ambiguous_parent'],
    [{ ...unit, name: 'Child', parent_path: ['Twin'] }, 'failed: unknown_parent'],
    [{ ...unit, name: 'Child', parent_id: gone.id }, 'failed: parent_archived'],
    [{ name: 'Child', parent_id: a.id }, 'failed: parent_type'],
    [{ ...unit, name: 'Low', attributes: { capabilityLevel: 'L3' } }, 'failed: readonly'],
    [{ ...unit, name: 'Twin', parent_path: ['a'] }, 'failed: sibling_name_taken'],
    [{ ...unit, name: 'A' }, 'failed: sibling_name_taken'],
    // the stored card is meant, whatever became of the row before
    [{ ...unit, name: 'Late', parent_path: ['A'] }, 'created'],
    [{ ...unit, name: '4', parent_path: ['A', 'Late'] }, 'created'],
    [{ ...unit, name: '5', parent_path: ['A', 'Late', '4'] }, 'created'],
    [{ ...unit, name: '6', parent_path: ['A', 'Late', '4', '5'] }, 'created'],
    [{ ...unit, name: '7', parent_path: ['A', 'Late', '4', '5', '6'] }, 'failed: capability_too_deep'],
  ];
  const dry = await idle(() =>
    create(
      rows.map(([row]) => row),
      true,
    ),
  );
  expect(outcomes(dry.body)).toEqual(rows.map(([, outcome]) => outcome));
  const answer = await create(rows.map(([row]) => row));
  expect(outcomes(answer.body)).toEqual(outcomes(dry.body));
  expect(answer.body).toMatchObject({ created: 5, failed: rows.length - 5 });
});

it('finds parents only on paths of cards that the caller sees', async () => {
  const top = await admin.card({ ...unit, name: 'Hidden top' });
  const middle = await admin.card({ ...unit, name: 'Middle', parent_id: top.id });
  const maker = await t.holding('inventory.create');
  await t.services
    .db('stakeholders')
    .insert({ card_id: middle.id, user_id: maker.userId, role: 'responsible' });
  const rows = [
    { ...unit, name: 'By id', parent_id: middle.id },
    { ...unit, name: 'By path', parent_path: ['Hidden top', 'Middle'] },
    { ...unit, name: 'At the top', parent_path: ['Hidden top'] },
    { ...unit, name: 'Deep', parent_path: Array.from({ length: 99 }, (_, at) => `Level ${at}`) },
  ];
  expect(outcomes((await create(rows, true, maker)).body)).toEqual([
    'created',
    ...Array(3).fill('failed: unknown_parent'),
  ]);
});

it('asks for rights, and takes 1 to 2,000 rows', async () => {
  const maker = await t.holding('inventory.view', 'inventory.create');
  const rows = [
    { name: 'Mine' },
    { name: 'Dear', attributes: { costTotalAnnual: 1 } },
    { name: 'Approved', approval_status: 'APPROVED' },
  ];
  const outcome = outcomes((await create(rows, false, maker)).body);
  expect(outcome).toEqual(['created', 'failed: forbidden', 'failed: forbidden']);
  await expectRefused(() => create(rows, false, viewer), 403);
  for (const rows of [[], Array(2_001).fill({ name: 'X' }), [{ name: 'X', nope: 1 }], [{}]])
    await expectRefused(() => create(rows), 422);
});

it('lets one of many equal requests through for each card', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => create([{ name: 'Raced' }, { name: 'Raced too', external_id: 'R' }])),
  );
  const created = answers.flatMap(({ status, body }) => {
    expect(status).toBe(200);
    return body.results.filter((row: { status: string }) => row.status === 'created');
  });
  expect(created).toHaveLength(2);
});
