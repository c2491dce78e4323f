// @redis

import { REQUEST_LIMIT } from '../../../domain/inventory/metamodel/changes/changes.run.ts';
import { withHeartbeat } from '../../../platform/database.ts';
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { mayBeSilent } from '../../support/database.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { jobRow, untilStatus } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { writesOf } from '../../support/writes.ts';
import {
  eventsBy,
  field,
  makeRelationType,
  makeType,
  relationTypes,
  schema,
  types,
} from './metamodel.fixture.ts';

const MANY = REQUEST_LIMIT + 100;

let workers: Workers | undefined;

const { t, db, admin } = await openApp(['admin']);
const { idle } = writesOf(t);
const type = await makeType(admin, [field('size', 'number'), field('note', 'text')]);
await db.raw(
  `insert into cards (type, name, attributes, data_quality)
     select ?, 'Card ' || n, jsonb_build_object('size', n), 16.7 from generate_series(1, ?) n`,
  [type, MANY],
);

afterAll(() => workers?.close(5_000));

const withSize = async () =>
  Number((await db('cards').where({ type }).whereRaw("jsonb_exists(attributes, 'size')").count())[0]!.count);

it('a change of many cards is a job, which does nothing when the type has changed meanwhile', async () => {
  const body = { fields_schema: schema(field('note', 'text')) };
  const impact = await idle(() => admin.patch(`${types}/${type}?dry_run=true`, body));
  expect(impact.body).toMatchObject({ cards: MANY, as_job: true });
  const started = await admin.patch(`${types}/${type}`, body, { 'idempotency-key': 'large-1' });
  expect([started.status, started.body.status]).toEqual([202, 'queued']);
  expect(started.headers.location).toBe(`/api/v1/jobs/${started.body.job_id}`);
  expect(await withSize()).toBe(MANY);
  const again = await admin.patch(`${types}/${type}`, body, { 'idempotency-key': 'large-1' });
  expect(again.body).toEqual(started.body);

  await ok(admin.patch(`${types}/${type}`, { label: 'Other' }));
  workers = await startWorkers(t.services);
  const failed = await untilStatus(t.services, started.body.job_id, 'failed');
  expect(failed.error?.code).toBe('precondition_failed');
  expect(await withSize()).toBe(MANY);
});

it('writes every card with its event, or none, and is listed as one batch', async () => {
  const body = { fields_schema: schema(field('note', 'text')) };
  const { kinds, answer } = await eventsBy(t, async () => {
    const started = await admin.patch(`${types}/${type}`, body);
    await untilStatus(t.services, started.body.job_id, 'succeeded');
    // the answer's position is that of the request, not of the job
    return { ...started, headers: {} };
  });
  expect(kinds).toEqual({ 'card.updated': MANY, 'card_type.updated': 1 });
  expect(await withSize()).toBe(0);
  const job = (await admin.get(`/api/v1/jobs/${answer.body.job_id}`)).body;
  expect(job).toMatchObject({
    kind: 'metamodel_change',
    counts: { changed: MANY, scored: MANY },
    result: { operation: 'patch_card_type', key: type },
  });
  const [batch] = await db('mutation_batches').where({ id: job.id });
  expect(batch.tool_name).toBe('job metamodel_change');
  expect(await db('events').where({ batch_id: job.id }).pluck('position')).toHaveLength(MANY + 1);
  expect((await admin.get(`${types}/${type}`)).body.fields_schema).toEqual(body.fields_schema);
});

it('deletes many relations in the same way, waiting for a long write', async () => {
  const key = await makeRelationType(admin, type, 'Application');
  await db.raw(
    `with app as (insert into cards (type, name) values ('Application', 'Hub') returning id)
     insert into relations (type, source_id, target_id)
     select ?, c.id, app.id from app, (select id from cards where type = ? limit ?) c`,
    [key, type, MANY],
  );
  const job = await db.transaction(async (long) => {
    await mayBeSilent(long);
    await long.raw('select lock_metamodel(false)');
    // asked for by hand: a request would be refused as busy
    const { rows } = await db.raw(
      `insert into jobs (kind, queue, payload, owner_id, rights) values ('metamodel_change', 'bulk', ?, ?, ?)
       returning id`,
      [
        JSON.stringify({
          operation: 'delete_relation_type',
          key,
          force: true,
          language: 'en',
          expected: null,
        }),
        admin.userId,
        JSON.stringify({ permissions: '*' }),
      ],
    );
    await withHeartbeat(long, () =>
      until('the job to wait', async () => {
        const row = await jobRow(t.services, rows[0].id);
        return row.status === 'running' && row.message === 'Waiting for a long write';
      }),
    );
    return rows[0].id as string;
  });
  expect((await untilStatus(t.services, job, 'succeeded')).counts).toEqual({ changed: MANY, scored: 0 });
  expect(await db('relations').where({ type: key })).toEqual([]);
  await expectProblem(admin.get(`${relationTypes}/${key}`), 404);
});

it('counts the data quality beside other writes, card by card', async () => {
  await db('cards').where({ type }).update({ description: 'Said.' });
  const { kinds } = await eventsBy(t, async () => {
    const started = await admin.post(`${types}/${type}/stakeholder-roles`, { key: 'steward', label: 'S' });
    expect(started.status).toBe(202);
    const done = await untilStatus(t.services, started.body.job_id, 'succeeded');
    expect(done.counts).toEqual({ changed: 0, scored: MANY });
    return { ...started, headers: {} };
  });
  expect(kinds).toEqual({ 'card.updated': MANY, 'stakeholder_role.created': 1 });
  const scores = await db('cards').where({ type }).distinct('data_quality').pluck('data_quality');
  // the description, of one field, description, lifecycle and three roles
  expect(scores).toEqual([16.7]);
});

it('is for those who may administer the metamodel when it runs', async () => {
  const { rows } = await db.raw(
    `insert into jobs (kind, queue, payload, owner_id, rights) values ('metamodel_change', 'bulk', ?, ?, ?)
     returning id`,
    [
      JSON.stringify({
        operation: 'delete_card_type',
        key: 'Platform',
        force: false,
        language: 'en',
        expected: null,
      }),
      (await t.as('member', 'demoted')).userId,
      JSON.stringify({ permissions: '*' }),
    ],
  );
  await db.raw("select pg_notify('estate_jobs', '')");
  expect((await untilStatus(t.services, rows[0].id, 'failed')).error?.code).toBe('forbidden');
});
