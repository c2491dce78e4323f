import type { Knex } from 'knex';
import { inTransaction } from '../../platform/database.ts';
import { openApp } from '../support/harness.ts';
import { until } from '../support/until.ts';

/** For the statements themselves, on a machine that does other things as well. */
const SLACK_MS = 1_500;

const { t, db } = await openApp();

const [A, B] = [990_001, 990_002];
const lock = (trx: Knex.Transaction, id: number) => trx.raw('select pg_advisory_xact_lock(?)', [id]);
const untilWaiting = (count: number) =>
  until('the lock waits', async () => {
    const { rows } = await db.raw(
      `select count(*)::int as n from pg_locks where not granted and objid in (${A}, ${B})`,
    );
    return rows[0].n === count;
  });
/** Takes a lock as another writer does, and returns how long that took in milliseconds. */
async function waitFor(id: number): Promise<number> {
  const begun = performance.now();
  await inTransaction(t.services.db, (trx) => lock(trx, id));
  return performance.now() - begun;
}

it('a writer that waits for a frozen one, and so delays a third, delays it by no more than that', async () => {
  const frozen = await db.transaction();
  await lock(frozen, A);
  const living = inTransaction(db, async (trx) => {
    await lock(trx, B);
    await lock(trx, A);
  });
  await untilWaiting(1);
  const waited = await waitFor(B);
  expect(waited).toBeGreaterThan(2_000);
  expect(waited).toBeLessThan(5_000 + SLACK_MS);
  await living;
  await frozen.rollback().catch(() => undefined);
}, 30_000);

it('a writer that freezes while it waits for a living one delays a third by no more than both limits', async () => {
  const living = await db.transaction();
  await lock(living, A);
  const frozen = await db.transaction();
  await frozen.raw('set local lock_timeout = 4000');
  await lock(frozen, B);
  // from the moment that it is granted on, the transaction is silent
  const granted = lock(frozen, A).then(() => undefined);
  await untilWaiting(1);
  const waiting = waitFor(B);
  await living.raw('select pg_sleep(3)');
  await living.commit();
  await granted;
  const waited = await waiting;
  expect(waited).toBeGreaterThan(3_000);
  expect(waited).toBeLessThan(8_500 + SLACK_MS);
  await frozen.rollback().catch(() => undefined);
}, 30_000);
