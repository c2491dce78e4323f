import { expect, it } from 'vitest';
import { ok, openApp } from '../../support/harness.ts';

const { t, db } = await openApp();

it('serves other users while one of them sends many reads that the database takes long for', async () => {
  const reader = await t.as('viewer');
  const other = await t.as('member');
  // every read of cards waits for this lock
  const blocker = await db.transaction();
  await blocker.raw('lock table card_merges in access exclusive mode');
  let answered = 0;
  const many = Array.from({ length: 30 }, async () => {
    const { status } = await reader.get('/api/v1/card-merges');
    answered += 1;
    return status;
  });
  await ok(other.get('/api/v1/cards?page_size=1'));
  expect(answered).toBe(0);
  await blocker.rollback();
  expect(new Set(await Promise.all(many))).toEqual(new Set([200]));
});
