// @redis
import { closeAfterAll, createTestApp } from '../support/harness.ts';
import { startWorkerProcess } from '../support/jobs.ts';
import { startLoad, writtenValues } from '../support/load.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/until.ts';

/** The longest that a request may take while the database is away, in milliseconds. */
const LIMIT_MS = 15_000;

const postgres = await startOwnPostgres();
const t = closeAfterAll(await createTestApp({}, postgres.database));

afterAll(() => postgres?.remove());

it('answers 503 while PostgreSQL is away, never hangs, and goes on by itself with nothing lost', async () => {
  const admin = await t.as('admin');
  const worker = await startWorkerProcess(t.services);
  try {
    const load = await startLoad(admin, 4);
    const jobs: string[] = [];
    for (let outage = 1; outage <= 2; outage += 1) {
      const before = load.seen.length;
      await until(
        'requests to be answered',
        async () => load.seen.slice(before).filter(({ status }) => status === 200).length > 60,
      );
      const started = await admin.post('/api/v1/exports', { format: 'csv', kind: 'cards' });
      expect(started.status).toBe(202);
      jobs.push(started.body.job_id);
      await postgres.stop();
      const since = load.seen.length;
      await until(
        'requests to be refused',
        async () => load.seen.slice(since).filter(({ status }) => status === 503).length > 60,
      );
      expect((await t.anonymous.get('/api/health/live')).status).toBe(200);
      expect((await t.anonymous.get('/api/health')).status).toBe(200);
      const ready = await t.anonymous.get('/api/health/ready');
      expect([ready.status, ready.body.status]).toEqual([503, 'not_ready']);
      await postgres.start();
    }
    const before = load.seen.length;
    await until(
      'requests to be answered again',
      async () => load.seen.slice(before).filter(({ status }) => status === 200).length > 60,
    );
    await load.stop();

    expect(new Set(load.seen.map(({ status }) => status))).toEqual(new Set([200, 503]));
    const refused = load.seen.filter(({ status }) => status === 503);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['unavailable']));
    expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true);
    expect(Math.max(...load.seen.map(({ ms }) => ms))).toBeLessThan(LIMIT_MS);
    // readiness is tried once a second
    await until(
      'the service to be ready',
      async () => (await t.anonymous.get('/api/health/ready')).status === 200,
    );
    for (const [cardId, accepted] of load.accepted) {
      const written = await writtenValues(admin, cardId);
      // what was accepted is there; what was refused may be, but nothing twice
      expect(written).toEqual([...new Set(written)]);
      expect(accepted.filter((value) => !written.includes(value))).toEqual([]);
    }
    for (const id of jobs) {
      const ended = async () => {
        if (worker.process.exitCode !== null) throw new Error(`the worker has ended:\n${worker.output()}`);
        const { body } = await admin.get(`/api/v1/jobs/${id}`);
        if (body.status === 'failed') throw new Error(JSON.stringify(body));
        return body.status === 'succeeded';
      };
      await until('the job to succeed', ended, 120_000);
    }
  } finally {
    worker.kill('SIGKILL');
    await worker.ended();
  }
}, 300_000);

it('answers 503 in time when PostgreSQL neither answers nor refuses', async () => {
  const admin = await t.as('admin');
  expect((await admin.get('/api/v1/cards')).status).toBe(200);
  postgres.freeze();
  const asked = performance.now();
  const answers = await Promise.all([
    admin.get('/api/v1/cards'),
    admin.get('/api/v1/reports/dashboard'),
    admin.post('/api/v1/cards', { type: 'Application', name: 'Never heard of' }),
  ]);
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
    answers.map(() => [503, 'unavailable']),
  );
  expect(performance.now() - asked).toBeLessThan(LIMIT_MS);
  expect((await t.anonymous.get('/api/health/live')).status).toBe(200);
  postgres.thaw();
  await until('answers again', async () => (await admin.get('/api/v1/cards')).status === 200);
}, 120_000);
