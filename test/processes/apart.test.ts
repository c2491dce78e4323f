// @redis
import { inject } from 'vitest';
import { schemaSteps } from '../../migrations/steps.ts';
import { openDatabase } from '../../platform/database.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts';
import { createPlace, freePort, logIn, type Place, processesIn, untilReady } from '../support/processes.ts';
import { until } from '../support/until.ts';

const secret = { SECRET_KEY: 'a-secret-key-for-tests-of-32-characters-or-more' };
let place: Place;
beforeEach(async () => {
  place = await createPlace();
});
afterEach(() => place.clear());

it('shares the server of a folder: the API takes jobs, a worker of its own carries them out', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const api = place.start('api', { PORT: String(port) });
  await untilReady(api, url);
  const remote = await logIn(url, place.admin);
  const { status, body } = await remote.send('POST', '/exports', { format: 'csv', kind: 'cards' });
  expect(status).toBe(202);
  const job = async () => (await remote.send('GET', `/jobs/${body.job_id}`)).body.status;
  expect(await job()).toBe('queued');
  const worker = place.start('worker');
  await until('the worker to do the job', async () => (await job()) === 'succeeded', 90_000);
  // whoever goes first leaves the server to the other one
  worker.kill('SIGTERM');
  expect((await worker.ended()).code).toBe(0);
  expect((await remote.send('GET', '/cards')).status).toBe(200);
  api.kill('SIGTERM');
  expect((await api.ended()).code).toBe(0);
  await until('no process to be left', async () => processesIn(place.dataDir).length === 0, 15_000);
}, 180_000);

it('migrations run once when two processes begin at once', async () => {
  const database = await createEmptyDatabase();
  onTestFinished(() => database.drop());
  const env = { ...secret, DATABASE_URL: database.url };
  const ends = await Promise.all(
    [place.start('migrate', env), place.start('migrate', env)].map((child) => child.ended()),
  );
  expect(ends).toEqual(
    Array.from({ length: 2 }, () => ({ code: 0, output: 'The database schema is up to date.\n' })),
  );
  const db = openDatabase({ url: database.url, name: 'test', poolMax: 1 });
  const steps = await db('schema_steps').orderBy('name').pluck('name');
  const roles = await db('roles').pluck('key');
  await db.destroy();
  expect(steps).toEqual(schemaSteps.map(({ name }) => name));
  expect(roles).toContain('admin');
}, 120_000);

it('migrations of a newer version are refused by every process in one sentence', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const db = openDatabase({ url: database.url, name: 'test', poolMax: 1 });
  await db('schema_steps').insert({ name: '9999-from-the-future' });
  await db.destroy();
  for (const entry of ['all', 'api', 'worker', 'migrate'] as const)
    expect(await place.start(entry, { ...secret, DATABASE_URL: database.url }).ended()).toEqual({
      code: 1,
      output:
        'The database was migrated by a newer version (9999-from-the-future): start that version or a later one.\n',
    });
}, 120_000);

describe('a start that cannot be', () => {
  const refused = async (entry: 'api' | 'worker', env: Record<string, string | undefined>) =>
    await place.start(entry, env).ended();

  it('says that the secret is missing', async () => {
    expect(await refused('api', { DATABASE_URL: inject('serverUrl') })).toEqual({
      code: 1,
      output: expect.stringMatching(/^SECRET_KEY is missing: [^\n]+\.\n$/),
    });
  }, 60_000);

  it('says that the database does not answer', async () => {
    const url = `postgres://nobody:nothing@127.0.0.1:${await freePort()}/nowhere`;
    expect(await refused('worker', { ...secret, DATABASE_URL: url })).toEqual({
      code: 1,
      output: 'The database does not answer: check DATABASE_URL and that the server runs.\n',
    });
  }, 60_000);

  it('says that the login is wrong, or the database unknown', async () => {
    const wrong = new URL(inject('serverUrl'));
    wrong.password = 'wrong';
    expect(await refused('api', { ...secret, DATABASE_URL: wrong.href })).toEqual({
      code: 1,
      output: 'The database refuses the login: check user and password in DATABASE_URL.\n',
    });
    const unknown = new URL(inject('serverUrl'));
    unknown.pathname = '/there_is_none';
    expect(await refused('worker', { ...secret, DATABASE_URL: unknown.href })).toEqual({
      code: 1,
      output: 'The database named in DATABASE_URL does not exist: create it first.\n',
    });
  }, 60_000);
});
