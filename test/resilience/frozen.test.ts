import { readFileSync } from 'node:fs';
import { type Child, startChild } from '../support/child.ts';
import { openApp } from '../support/harness.ts';
import { until } from '../support/until.ts';

/** After which the server ends a silent transaction of the process that is frozen; what ships waits longer. */
const IDLE_MS = 1_000;
/** For the writes themselves, on a machine that does other things as well. */
const SLACK_MS = 2_500;

let child: Child | undefined;

const { t, db, sql, admin } = await openApp(['admin']);

afterAll(async () => {
  child?.kill('SIGKILL');
  await child?.ended();
});

const isStopped = (pid: number) => /^\d+ \(.*\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

it('ends silent transactions within five seconds', async () => {
  const { rows } = await db.raw(`select setting::int as ms from pg_settings
      where name = 'idle_in_transaction_session_timeout'`);
  expect(rows[0].ms).toBeGreaterThan(0);
  expect(rows[0].ms).toBeLessThan(5_000);
});

it('a process that freezes at any statement of a write holds no other writer up, and goes on once it wakes', async () => {
  const make = async (name: string) =>
    (await admin.post('/api/v1/cards', { type: 'BusinessCapability', name })).body.id;
  const [card, parent, other] = [await make('Frozen'), await make('Parent'), await make('Other')];
  const url = new URL(t.services.config.databaseUrl!);
  url.searchParams.set(
    'options',
    `-c idle_in_transaction_session_timeout=${IDLE_MS} -c timezone=UTC -c lock_timeout=30000`,
  );
  child = startChild('test/resilience/fixtures/freezing-writer.ts', [card, parent], {
    DATABASE_URL: url.href,
    DATA_DIR: t.services.config.dataDir,
    SECRET_KEY: t.services.config.secretKeys[0],
    LOG_LEVEL: 'error',
  });
  const pid = child.process.pid!;
  const waits: number[] = [];
  for (let n = 1; ; n += 1) {
    await child.until(new RegExp(`freezing ${n}:|written ${n}\n`));
    if (!child.output().includes(`freezing ${n}:`)) break;
    await until('the process to be stopped', async () => isStopped(pid));
    const begun = performance.now();
    // the same card, its place in the tree, and the feed
    const { status } = await admin.patch(`/api/v1/cards/${card}`, { alias: `${n}`, parent_id: other });
    waits.push(performance.now() - begun);
    expect(status).toBe(200);
    child.kill('SIGCONT');
    await child.until(new RegExp(`written ${n}\n`));
  }
  expect((await child.ended()).code).toBe(0);
  expect(waits.length).toBeGreaterThan(5);
  expect(Math.max(...waits)).toBeLessThan(IDLE_MS + SLACK_MS);
  // it did hold locks, and every write was carried out in the end
  expect(Math.max(...waits)).toBeGreaterThan(IDLE_MS / 2);
  const rows = await sql.rows`
    select count(*)::int as n from events where card_id = ${card} and data -> 'changes' -> 'name' ->> 'new'
      like 'Frozen %'`;
  expect(rows[0].n).toBe(waits.length + 1);
}, 120_000);

it.each([
  ['the feed', 'select pg_advisory_xact_lock(7203001)', (cards: string[]) => cards],
  ['a card', 'select 1 from cards where id = ? for update', ([card]: string[]) => [card, card, card]],
])(
  'a process that freezes with three writes waiting for %s holds another writer up once',
  async (name, hold, cardsOf) => {
    const cards: string[] = [];
    for (const n of [1, 2, 3])
      cards.push(
        (await admin.post('/api/v1/cards', { type: 'BusinessCapability', name: `${name} ${n}` })).body.id,
      );
    const holding = await db.transaction();
    await holding.raw(hold, hold.includes('?') ? [cards[0]!] : []);
    child = startChild('test/resilience/fixtures/queueing-writer.ts', cardsOf(cards) as string[], {
      DATABASE_URL: t.services.config.databaseUrl,
      DATA_DIR: t.services.config.dataDir,
      SECRET_KEY: t.services.config.secretKeys[0],
      LOG_LEVEL: 'error',
    });
    const pid = child.process.pid!;
    await until('three writes that wait', async () => {
      const { rows } = await db.raw(`select count(*)::int as n from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`);
      // the service of the test may wait as well
      return rows[0].n >= 3;
    });
    child.kill('SIGSTOP');
    await until('the process to be stopped', async () => isStopped(pid));
    await holding.rollback();
    const begun = performance.now();
    expect((await admin.patch(`/api/v1/cards/${cards[0]}`, { alias: 'Through' })).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(5_000 + SLACK_MS);
    child.kill('SIGCONT');
    await child.until(/all written/);
    expect((await child.ended()).code).toBe(0);
  },
  60_000,
);
