// @redis

import { query } from '../../../platform/database.ts';
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { ok, openApp } from '../../support/harness.ts';
import { jobRow, untilStatus } from '../../support/jobs.ts';
import { eventsBy, field, makeRelationType, makeType } from '../metamodel/metamodel.fixture.ts';

let workers: Workers | undefined;

const { t, db, admin } = await openApp(['admin']);

afterAll(() => workers?.close(5_000));

const newType = () =>
  makeType(admin, [field('a', 'number'), field('b', 'number'), field('c', 'number')], {
    has_hierarchy: true,
  });
async function active(type: string, target: string, formula: string): Promise<string> {
  const body = { name: 'X', target_type_key: type, target_field_key: target, formula };
  const { id } = (await admin.post('/api/v1/calculations', body)).body;
  await ok(admin.post(`/api/v1/calculations/${id}/activate`));
  return id;
}
const card = async (
  type: string,
  name: string,
  attributes: object = {},
  more: object = {},
): Promise<string> => (await admin.card({ type, name, attributes, ...more })).id;
const valuesOf = async (id: string) => (await db('cards').where({ id }).first()).attributes;
const statuses = (answers: { status: number }[]) => [...new Set(answers.map(({ status }) => status))].sort();

it('fifty writers on cards that follow each other lose nothing and meet no deadlock', async () => {
  const [left, right] = [await newType(), await newType()];
  const joins = await makeRelationType(admin, left, right);
  await active(left, 'b', `SUM(PLUCK(relations.${joins}, "a"))`);
  await active(right, 'b', `SUM(PLUCK(relations.${joins}, "a"))`);
  await active(left, 'c', 'COALESCE(data.a, 0) + SUM(PLUCK(children, "c"))');
  const root = await card(left, 'Root', { a: 0 });
  const lefts: string[] = [];
  const rights: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    lefts.push(await card(left, `Left ${n}`, { a: 0 }, { parent_id: root }));
    rights.push(await card(right, `Right ${n}`, { a: 0 }));
  }
  await Promise.all(
    lefts.flatMap((source_id) => rights.map((target_id) => admin.relate(joins, source_id, target_id))),
  );
  const ids = [...lefts, ...rights];
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      admin.patch(`/api/v1/cards/${ids[n % ids.length]}`, { attributes: { a: n + 1 } }),
    ),
  );
  expect(statuses(answers)).toEqual([200]);
  const values = await Promise.all(ids.map(valuesOf));
  const sum = (list: { a: number }[]) => list.reduce((total, { a }) => total + a, 0);
  for (const { b } of values.slice(0, 5)) expect(b).toBe(sum(values.slice(5)));
  for (const { b } of values.slice(5)) expect(b).toBe(sum(values.slice(0, 5)));
  expect((await valuesOf(root)).c).toBe(sum(values.slice(0, 5)));
  const { rows } = await db.raw(`select count(*)::int as n from events where event_type = 'card.updated'
      and data -> 'changes' = '{}'`);
  expect(rows[0].n).toBe(0);
});

it('two hundred writers on one card leave a value that fits what it follows', async () => {
  const type = await newType();
  await active(type, 'b', 'data.a * 2');
  await active(type, 'c', 'children_count + data.b');
  const id = await card(type, 'Busy', { a: 1 });
  const told = await eventsBy(t, async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => admin.patch(`/api/v1/cards/${id}`, { attributes: { a: n + 2 } })),
    );
    expect(statuses(answers)).toEqual([200]);
    return answers[0]!;
  });
  expect(told.kinds).toEqual({ 'card.updated': 200 });
  const { a, b, c } = await valuesOf(id);
  expect([b, c]).toEqual([a * 2, a * 2]);
  // each event goes on from the one before
  let last = 2;
  for (const { data } of told.events) {
    const change = (data.changes as Record<string, { old: number; new: number }>)['attributes.b']!;
    expect(change.old).toBe(last);
    last = change.new;
  }
});

it('a formula that takes long over many cards leaves the thread to other requests', async () => {
  const type = await newType();
  await query(db).run`
    insert into cards (type, name, data_quality)
    select ${type}, 'Card ' || n, 0 from generate_series(1, 300) n`;
  const statements: string[] = [];
  const note = ({ sql }: { sql: string }) => statements.push(sql);
  db.on('query', note);
  const list = `[${Array(1_200).fill('1').join(',')}]`;
  await active(type, 'b', `x = ${list}\n${Array(60).fill('SUM(x)').join(' + ')} + children_count`);
  db.removeListener('query', note);
  const rows = await query(db).rows`
    select count(*)::int as n from cards where type = ${type} and (attributes ->> 'b')::int = 72000`;
  expect(rows[0].n).toBe(300);
  expect(statements.filter((sql) => sql === 'select 1').length).toBeGreaterThan(2);
});

it('a job computes all cards of a type, and many cards are left to it', async () => {
  const type = await newType();
  await query(db).run`insert into cards (type, name, attributes, data_quality)
     select ${type}, 'Card ' || n, jsonb_build_object('a', n % 5), 0 from generate_series(1, 2100) n`;
  await active(type, 'b', '100 / data.a');
  const { rows } = await db.raw("select id from jobs where payload ->> 'type_key' = ?", [type]);
  workers = await startWorkers(t.services);
  const first = await untilStatus(t.services, rows[0].id, 'succeeded');
  const counts = { processed: 2100, updated: 1680, errors: 420 };
  expect(first.result).toEqual(counts);
  const started = await admin.post(`/api/v1/calculations/recalculate/${type}`);
  expect([started.status, started.headers.location]).toEqual([202, `/api/v1/jobs/${started.body.job_id}`]);
  await untilStatus(t.services, started.body.job_id, 'succeeded');
  expect((await jobRow(t.services, started.body.job_id)).counts).toEqual({ ...counts, updated: 0 });
  const sample = await db('cards').where({ type, name: 'Card 4' }).first();
  expect(sample.attributes).toEqual({ a: 4, b: 25 });
  expect(Number(sample.data_quality)).toBeGreaterThan(0);
});

it('an import computes what its rows bring, whatever they say of it', async () => {
  workers ??= await startWorkers(t.services);
  const type = await newType();
  await active(type, 'b', 'data.a + 1');
  await active(type, 'c', 'SUM(PLUCK(children, "b"))');
  const csv = [
    'type,external_id,name,parent_external_id,attributes.a,attributes.b',
    `${type},P,Parent,,1,99`,
    ...Array.from({ length: 20 }, (_, n) => `${type},C${n},Child ${n},P,${n},7`),
  ].join('\n');
  const load = async () => {
    const answer = await ok(
      admin.request({
        method: 'POST',
        url: '/api/v1/imports?kind=cards&mode=upsert&dry_run=false&atomic=false&empty=leave',
        headers: { 'content-type': 'text/csv' },
        payload: csv,
      }),
      202,
    );
    return (await untilStatus(t.services, answer.job_id, 'succeeded')).counts;
  };
  expect(await load()).toMatchObject({ created: 21, failed: 0 });
  const { attributes } = await db('cards').where({ type, external_id: 'P' }).first();
  expect(attributes).toEqual({ a: 1, b: 2, c: 210 });
  expect(await load()).toMatchObject({ unchanged: 21, failed: 0 });
});
