import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createSessionReader } from '../../../domain/access/access.sessions.ts';
import type { TokenClaims } from '../../../domain/kernel/sessions.ts';
import { mayBeSilent } from '../../support/database.ts';
import { openApp } from '../../support/harness.ts';

const { t, db, sql } = await openApp();

it('tells every reader versions that are no older than its call, while reads overtake each other', async () => {
  const sessions = createSessionReader(t.services.db);
  const topic = `cards:${randomUUID()}`;
  let written = 0;
  let writing = true;
  const write = async () => {
    for (let version = 1; version <= 300; version++) {
      await sql.run`insert into topic_versions (topic, version) values (${topic}, ${version})
         on conflict (topic) do update set version = excluded.version`;
      written = version;
    }
    writing = false;
  };
  const maps = new Set<ReadonlyMap<string, number>>();
  const read = async () => {
    while (writing) {
      const before = written;
      const { topics } = await sessions.read(null);
      maps.add(topics);
      expect(topics.get(topic) ?? 0).toBeGreaterThanOrEqual(before);
      expect(topics.get('metamodel')).toBeDefined();
    }
  };
  await Promise.all([write(), read(), read(), read(), read()]);
  // a state that doesn't change is one map, by which answers are kept
  expect(maps.size).toBeLessThanOrEqual(301);
  const still = await Promise.all([sessions.read(null), sessions.read(null)]);
  expect((await sessions.read(null)).topics).toBe(still[0].topics);
});

/** A login of a user of the test's own. */
async function login(role = 'member'): Promise<TokenClaims> {
  const user = await t.as(role);
  const { token_version: tv } = await db('users').where({ id: user.userId }).first();
  return { sub: user.userId, jti: randomUUID(), tv, exp: Date.now() / 1000 + 3600, iat: Date.now() / 1000 };
}

const tokenFor = async (userId: string, columns: Record<string, unknown> = {}) => {
  const key = { hash: randomUUID() };
  const row = {
    id: randomUUID(),
    user_id: userId,
    name: 'T',
    hint: 'est_',
    scopes: ['*'],
    ...key,
    ...columns,
  };
  await db('api_tokens').insert(row);
  return { id: row.id, key };
};

const soon = (ms: number) => db.raw(`now() + interval '${ms} milliseconds'`);

describe('what the database has been told', () => {
  it('shows in the first read after the commit, however long the transaction was open', async () => {
    const sessions = createSessionReader(t.services.db);
    const claims = await login();
    const other = await login('viewer');
    const name = async () => (await sessions.read(claims)).caller?.displayName;
    for (let turn = 0; turn < 20; turn += 1) {
      // reads before, within and after a change of which each sees nothing before its end
      const trx = await db.transaction();
      await mayBeSilent(trx);
      onTestFinished(async () => void (await trx.rollback()));
      const before = await name();
      await trx('users').where({ id: claims.sub }).update('display_name', `Turn ${turn}`);
      expect([await name(), await name()]).toEqual([before, before]);
      // another one that begins later and ends before
      await db('users').where({ id: other.sub }).update('display_name', `Other ${turn}`);
      expect(await name()).toBe(before);
      expect((await sessions.read(other)).caller?.displayName).toBe(`Other ${turn}`);
      expect(await name()).toBe(before);
      if (turn % 4 === 3) await trx.rollback();
      else await trx.commit();
      const after = turn % 4 === 3 ? before : `Turn ${turn}`;
      expect([await name(), await name()]).toEqual([after, after]);
    }
  });

  it('is the same for all who share a read, whoever has read before', async () => {
    const sessions = createSessionReader(t.services.db);
    const claims = await Promise.all([login(), login('admin'), login('viewer')]);
    const { key } = await tokenFor(claims[0]!.sub);
    const shown = [...claims, key, null];
    for (let turn = 0; turn < 30; turn += 1) {
      const some = shown.filter((_, index) => (turn + index) % 3 > 0);
      const read = await Promise.all(some.map((credential) => sessions.read(credential)));
      const ids = some.map((credential) =>
        credential === key ? claims[0]!.sub : (credential as TokenClaims)?.sub,
      );
      expect(read.map(({ caller }) => caller?.userId)).toEqual(ids);
      expect(new Set(read.map(({ topics }) => topics)).size).toBe(1);
    }
  });

  it('is asked for again where another server answers, even with the same snapshot and sum', async () => {
    const ask = async (...known: (string | number | null)[]) => {
      const { rows } = await db.raw("select session_state(?, ?, ?, '{}', '{}', '{}', '{}') as answer", known);
      return JSON.parse(rows[0].answer);
    };
    // the snapshot is the whole server's: another database's commits change it too
    const { server, snapshot, sum } = await vi.waitFor(async () => {
      const said = await ask(null, null, null);
      expect(Object.keys(said.topics)).toContain('metamodel');
      expect(await ask(said.server, said.snapshot, said.sum)).toBeNull();
      return said;
    });
    expect(await ask(server, '1:1:', sum)).toMatchObject({ server, sum, topics: null });
    const elsewhere = await ask('2001-01-01 00:00:00+00', snapshot, sum);
    expect(elsewhere.topics).toMatchObject({ metamodel: expect.any(Number) });
  });
});

describe('an API token, while nothing is written', () => {
  it('ends at its time', async () => {
    const sessions = createSessionReader(t.services.db);
    const { sub } = await login();
    const { key } = await tokenFor(sub, { expires_at: soon(400), last_used_at: soon(0) });
    expect((await sessions.read(key)).caller?.userId).toBe(sub);
    expect((await sessions.read(key)).caller?.userId).toBe(sub);
    await delay(450);
    expect((await sessions.read(key)).caller).toBeUndefined();
    expect((await sessions.read(key)).caller).toBeUndefined();
  });

  it('is noted as used again when a minute has passed, and not before', async () => {
    const sessions = createSessionReader(t.services.db);
    const { id, key } = await tokenFor((await login()).sub, { last_used_at: soon(-59_500) });
    const used = async () => (await db('api_tokens').where({ id }).first()).last_used_at;
    const first = await used();
    await sessions.read(key);
    await sessions.read(key);
    expect(await used()).toEqual(first);
    await delay(550);
    await sessions.read(key);
    const second = await used();
    expect(second > first).toBe(true);
    await sessions.read(key);
    expect(await used()).toEqual(second);
  });
});
