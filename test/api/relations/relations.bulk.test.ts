import { openApp, pluck } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);
const { appoint, eventsOf, expectRefused, idle } = writesOf(t);
await db('relation_types').where({ key: 'relOrgToApp' }).update({ cardinality: '1:n' });
await db.raw(`select raise_topics(array['metamodel'])`);

type Row = { action?: string; type?: string; source: object; target: object; [more: string]: unknown };
const bulk = (rows: Row[], client = admin, dry_run = false) =>
  client.post('/api/v1/relations/bulk', {
    operations: rows.map((row, index) => ({ row_index: index + 1, type: 'relAppToITC', ...row })),
    dry_run,
  });
const outcomes = (body: { results: { status: string; code: string | null }[] }) =>
  body.results.map(({ status, code }) => (code ? `${status}: ${code}` : status));

it('finds cards by id, external id, name, and path', async () => {
  const app = await admin.card({ name: 'Finder', external_id: 'F-1' });
  const top = await admin.card({ type: 'ITComponent', name: 'Top' });
  const middle = await admin.card({ type: 'ITComponent', name: 'Middle', parent_id: top.id });
  const twin = await admin.card({ type: 'ITComponent', name: 'Twin', parent_id: middle.id });
  await admin.card({ type: 'ITComponent', name: 'Twin', parent_id: top.id });
  const rootTwin = await admin.card({ type: 'ITComponent', name: 'Twin' });
  const gone = await admin.card({ type: 'ITComponent', name: 'Gone' });
  await admin.post(card(gone.id, '/archive'));
  const source = { type: 'Application', external_id: 'F-1' };
  const named = (name: string, parent_path?: string[]) => ({ type: 'ITComponent', name, parent_path });
  const { answer, events } = await eventsOf(() =>
    bulk([
      { source, target: named(' TWIN ', ['top', ' Middle']) },
      { source: { id: app.id.toUpperCase() }, target: named('twin', []) },
      { source: { type: 'Application', name: 'finder' }, target: { id: top.id } },
      { source, target: named('Twin') },
      { source, target: named('Twin', ['Middle']) },
      { source, target: named('Gone') },
      { source, target: { id: gone.id } },
      { source, target: { id: NOBODY } },
      { source, target: { name: 'Twin' } },
      { source, target: {} },
      { source, target: source },
      { source, target: { id: top.id }, type: 'relNope' },
    ]),
  );
  expect(answer.status).toBe(200);
  expect(outcomes(answer.body)).toEqual([
    'upserted',
    'upserted',
    'upserted',
    'failed: reference_ambiguous',
    'failed: reference_missing',
    'failed: reference_missing',
    'failed: end_archived',
    'failed: reference_missing',
    'failed: reference_incomplete',
    'failed: reference_incomplete',
    'failed: end_type',
    'failed: unknown_type',
  ]);
  expect(answer.body).toMatchObject({ upserted: 3, deleted: 0, failed: 9, dry_run: false });
  expect(events.map((event) => event.event_type)).toEqual(Array(3).fill('relation.created'));
  expect(events.map((event) => event.peer_card_id)).toEqual([twin.id, rootTwin.id, top.id]);
});

it('is idempotent, merges attributes, deletes, and comes to one event a relation', async () => {
  const app = await admin.card();
  const data = await admin.card({ type: 'DataObject' });
  const row = { type: 'relAppToDataObj', source: { id: app.id }, target: { id: data.id } };
  const rows = [
    { ...row, attributes: { crudRead: true } },
    { ...row, attributes: { crudCreate: true } },
    row,
    { ...row, attributes: { crudRead: 'x' } },
  ];
  const first = await eventsOf(() => bulk(rows));
  expect(outcomes(first.answer.body)).toEqual(['upserted', 'upserted', 'noop', 'failed: wrong_type']);
  expect(new Set(pluck(first.answer.body.results.slice(0, 3), 'relation_id')).size).toBe(1);
  expect(first.events).toHaveLength(1);
  expect(first.events[0]!.data.changes).toEqual({
    'attributes.crudRead': { old: null, new: true },
    'attributes.crudCreate': { old: null, new: true },
  });
  expect(outcomes((await idle(() => bulk(rows.slice(0, 3)))).body)).toEqual(['noop', 'noop', 'noop']);

  const away = { ...row, action: 'delete' };
  const deleted = await eventsOf(() => bulk([away, away]));
  expect(outcomes(deleted.answer.body)).toEqual(['deleted', 'noop']);
  expect(deleted.events.map((event) => event.event_type)).toEqual(['relation.deleted']);
  const back = await eventsOf(() => bulk([row, away, row]));
  expect(outcomes(back.answer.body)).toEqual(['upserted', 'deleted', 'upserted']);
  expect(back.events.map((event) => event.event_type)).toEqual(['relation.created']);
});

it('keeps to cardinality row after row', async () => {
  const [one, two] = [await admin.card({ type: 'Organization' }), await admin.card({ type: 'Organization' })];
  const app = await admin.card();
  const row = (org: { id: string }, action = 'upsert') => ({
    type: 'relOrgToApp',
    action,
    source: { id: org.id },
    target: { id: app.id },
  });
  const answer = await bulk([row(one!), row(two!), row(one!, 'delete'), row(two!)]);
  expect(outcomes(answer.body)).toEqual(['upserted', 'failed: cardinality_exceeded', 'deleted', 'upserted']);
  const listed = await admin.get(`/api/v1/relations?card_id=${app.id}`);
  expect(listed.body.items).toMatchObject([{ source_id: two!.id }]);
});

it('answers the same in a dry run and writes nothing', async () => {
  const app = await admin.card();
  const part = await admin.card({ type: 'ITComponent' });
  const other = await admin.card({ type: 'ITComponent' });
  await admin.relate('relAppToITC', app.id, other.id);
  const rows = [
    { source: { id: app.id }, target: { id: part.id } },
    { source: { id: app.id }, target: { id: other.id }, action: 'delete' },
    { source: { id: app.id }, target: { id: NOBODY } },
  ];
  const dry = await idle(() => bulk(rows, admin, true));
  const real = await bulk(rows);
  expect(outcomes(dry.body)).toEqual(outcomes(real.body));
  expect({ ...dry.body, results: [] }).toEqual({ ...real.body, results: [], dry_run: true });
});

it('checks the right card by card', async () => {
  const mine = await admin.card();
  const others = await admin.card();
  const part = await admin.card({ type: 'ITComponent' });
  await appoint(mine.id, viewer, 'responsible');
  const rows = [mine, others].map(({ id }) => ({ source: { id }, target: { id: part.id } }));
  expect(outcomes((await bulk(rows, viewer)).body)).toEqual(['upserted', 'failed: forbidden']);
  const away = rows.map((row) => ({ ...row, action: 'delete' }));
  await admin.relate('relAppToITC', others.id, part.id);
  expect(outcomes((await bulk(away, viewer)).body)).toEqual(['deleted', 'failed: forbidden']);
});

it('refuses faulty bodies as a whole', async () => {
  const row = { source: { id: NOBODY }, target: { id: NOBODY } };
  for (const rows of [
    [],
    [{ ...row, action: 'x' }],
    [{ ...row, source: { id: 'x' } }],
    [{ ...row, more: 1 }],
  ])
    await expectRefused(() => bulk(rows as Row[]), 422);
});

it('takes 5,000 rows and refuses more', async () => {
  const { rows } = await db.raw(`
       insert into cards (type, name, external_id) select 'ITComponent', 'Mass ' || n, 'M-' || n
       from generate_series(1, 5000) n returning external_id`);
  const app = await admin.card();
  const operations = rows.map(({ external_id }: { external_id: string }) => ({
    source: { id: app.id },
    target: { type: 'ITComponent', external_id },
  }));
  const { answer, events } = await eventsOf(() => bulk(operations));
  expect(answer.body).toMatchObject({ upserted: 5000, failed: 0 });
  expect(events).toHaveLength(5000);
  await expectRefused(() => bulk([...operations, operations[0]]), 422);
});
