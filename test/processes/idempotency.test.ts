import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { openDatabase } from '../../platform/database.ts';
import type { Child } from '../support/child.ts';
import { createTestDatabase } from '../support/database.ts';
import { createPlace, freePort, logIn, untilReady } from '../support/processes.ts';
import { until } from '../support/until.ts';

const SECRET_KEY = 'a-secret-key-for-tests-of-32-characters-or-more';
/** Taken by the test to hold a request up at a chosen statement. */
const BARRIER = 4_711;

let barrier: Knex.Transaction | undefined;

const place = await createPlace();
const database = await createTestDatabase();
const db = openDatabase({ url: database.url, name: 'test', poolMax: 3 });
const { url } = await startApi();
/** Answers every repetition: the other process, to which a request went first, does not live to do so. */
const second = await logIn(url, place.admin);

afterEach(async () => {
  await barrier?.rollback();
  barrier = undefined;
  await db.raw('drop trigger if exists barrier on idempotency_keys');
});
afterAll(async () => {
  await place.clear();
  await db.destroy();
  await database.drop();
});

async function startApi(): Promise<{ child: Child; url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = place.start('api', { PORT: String(port), DATABASE_URL: database.url, SECRET_KEY });
  await untilReady(child, url);
  return { child, url };
}

/** Sends the request to `first`, kills that process while it waits at the barrier, and repeats the request to `second`. */
async function killAtBarrier(first: { child: Child; url: string }, request: [string, unknown]) {
  barrier = await db.transaction();
  await barrier.raw('select pg_advisory_xact_lock(?)', [BARRIER]);
  const [path, body] = request;
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const send = ({ url }: { url: string }) =>
    fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      // a repetition comes from the same caller; each process knows the same tokens
      headers: { ...second.headers, ...headers },
      body: JSON.stringify(body),
    });
  const lost = expect(send(first)).rejects.toThrow();
  const waiting = () =>
    db('pg_locks').where({ locktype: 'advisory', objid: BARRIER, granted: false }).first('pid');
  const { pid } = await until('the request to wait at the barrier', waiting);
  expect((await send(second)).status).toBe(409);
  first.child.kill('SIGKILL');
  await lost;
  await first.child.ended();
  // the server ends a statement of a lost client only when it next looks at the connection
  await db.raw('select pg_terminate_backend(?, 5000)', [pid]);
  await barrier.rollback();
  barrier = undefined;
  await db.raw('drop trigger barrier on idempotency_keys');
  const answer = await until(
    'the key to be free',
    async () => {
      const response = await send(second);
      return response.status !== 409 && { response, text: await response.text() };
    },
    5_000,
  );
  return {
    status: answer.response.status,
    replayed: answer.response.headers.get('idempotent-replayed'),
    body: JSON.parse(answer.text),
  };
}

/** Holds up statements that begin like this, before they lock a row. */
async function holdUp(statement: string): Promise<void> {
  await db.raw(`
    create or replace function wait_at_barrier() returns trigger language plpgsql as $$
    begin
      if current_query() like '${statement}%' then perform pg_advisory_xact_lock(${BARRIER}); end if;
      return null;
    end $$;
    create trigger barrier before update on idempotency_keys execute function wait_at_barrier()`);
}
const keepingAnswer = 'update "idempotency_keys" set "status"';
const storingResult = 'update idempotency_keys set carried_out = true';

const cardNamed = (name: string) => ({ type: 'Application', name });

it('answers the repetition of a request that was killed between its commit and its answer', async () => {
  const first = await startApi();
  await holdUp(keepingAnswer);
  const card = cardNamed('Committed');
  const { status, replayed, body } = await killAtBarrier(first, ['/cards', card]);
  expect([status, replayed]).toEqual([201, 'true']);
  expect(body).toMatchObject(card);
  expect(await db('cards').where({ name: card.name }).pluck('id')).toEqual([body.id]);
}, 120_000);

it('makes an answer with a secret again, and keeps the secret sealed', async () => {
  const first = await startApi();
  await holdUp(keepingAnswer);
  const { status, body } = await killAtBarrier(first, ['/tokens', { name: 'Once' }]);
  expect(status).toBe(201);
  expect(body.token).toMatch(/^est_/);
  expect(await db('api_tokens').pluck('id')).toEqual([body.id]);
  const me = await fetch(`${second.url}/api/v1/cards`, {
    headers: { authorization: `Bearer ${body.token}` },
  });
  expect(me.status).toBe(200);
}, 120_000);

it('carries out the repetition of a request that was killed before its commit', async () => {
  const first = await startApi();
  await holdUp(storingResult);
  const card = cardNamed('Not committed');
  const { status, replayed, body } = await killAtBarrier(first, ['/cards', card]);
  expect([status, replayed]).toEqual([201, null]);
  expect(await db('cards').where({ name: card.name }).pluck('id')).toEqual([body.id]);
}, 120_000);
