// @redis
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { openApp, type TestClient } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { allowRecipients } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';
import { base, nightly, runNow } from './extractions.fixture.ts';

const mail = { kind: 'mail', recipients: ['bi@estate.example'] };

let workers: Workers;

const { t, db, member } = await openApp(['member']);
await allowRecipients(t.services, 'estate.example');
workers = await startWorkers(t.services);

afterAll(() => workers.close(5_000));

/** Mail is not set up, so that a run to it fails for good. */
async function make(name: string): Promise<string> {
  const made = await member.create(base, nightly({ name, cron: '* * * * *', destination: mail }));
  expect(made).toMatchObject({ last_run: null, next_run_at: expect.any(String) });
  return made.id;
}
const run = (id: string, status: string) => runNow(t, member, id, status);
async function told(id: string, status: string): Promise<string[]> {
  const { id: runId } = await run(id, status);
  const [event] = await db('events')
    .where({ event_type: `extraction_run.${status}` })
    .whereRaw(`data ->> 'id' = ?`, [runId]);
  return event.data.recipients ?? [];
}

it('are told at the first, once a day while they go on, and when they are over', async () => {
  const id = await make('Each minute');
  const owner = [member.userId];
  expect([await told(id, 'failed'), await told(id, 'failed')]).toEqual([owner, []]);
  await db('extraction_schedules').update({ failure_notified_at: db.raw(`now() - interval '25 hours'`) });
  expect([await told(id, 'failed'), await told(id, 'failed')]).toEqual([owner, []]);
  await member.patch(`${base}/${id}`, { destination: { kind: 'disk' } });
  expect([await told(id, 'succeeded'), await told(id, 'succeeded')]).toEqual([owner, []]);
  const titles = await until('the notifications', async () => {
    const rows = await db('notifications').where({ user_id: member.userId }).orderBy('id').pluck('title');
    return rows.length >= 3 && rows;
  });
  const failed = 'The extraction Each minute has failed';
  expect(titles).toEqual([failed, failed, 'The extraction Each minute works again']);
});

it('stand at the schedule as its last run, besides the next one', async () => {
  const id = await make('Shown');
  const { started_at, finished_at, error, ...failed } = await run(id, 'failed');
  const { last_run, next_run_at } = (await member.get(`${base}/${id}`)).body;
  expect(last_run).toEqual({ id: failed.id, status: 'failed', started_at, finished_at, error });
  expect(error.code).toBe('mail_not_configured');
  const wait = Date.parse(next_run_at) - Date.now();
  expect(wait > -5_000 && wait <= 60_000).toBe(true);
  const listed = (await member.get(`${base}?fields=next_run_at,last_run&search=shown`)).body.items;
  expect(listed).toMatchObject([{ last_run }]);
  expect((await member.patch(`${base}/${id}`, { status: 'paused' })).body.next_run_at).toBe(null);
});

it('are told when the run could not even begin, its tries used up or its starter gone', async () => {
  const starter = await t.as('admin');
  const used = await make('Tries used up');
  const gone = await make('Starter gone');
  await workers.close(5_000);
  const ask = async (client: TestClient, id: string) => (await client.post(`${base}/${id}/run`)).body;
  const [first, second] = [await ask(member, used), await ask(starter, gone)];
  // what no worker can read makes it fail before it begins, for the last time
  await db('jobs')
    .where({ id: first.job_id })
    .update({ payload: JSON.stringify({ schedule_id: used, unknown: true }), failures: 11 });
  await db('users').where({ id: starter.userId }).update({ is_active: false });
  workers = await startWorkers(t.services);
  for (const [id, { job_id, run_id }, code] of [
    [used, first, 'internal'],
    [gone, second, 'forbidden'],
  ] as const) {
    await untilStatus(t.services, job_id, 'failed');
    const { body } = await member.get(`${base}/${id}/runs/${run_id}`);
    expect(body).toMatchObject({ status: 'failed', started_at: null, error: { code } });
    const [event] = await db('events')
      .where({ event_type: 'extraction_run.failed' })
      .whereRaw(`data ->> 'id' = ?`, [run_id]);
    expect(event.data).toMatchObject({ code, recipients: [member.userId], paused: false });
    expect((await member.get(`${base}/${id}`)).body.status).toBe('active');
  }
});
