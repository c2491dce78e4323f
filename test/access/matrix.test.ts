import { describe, expect, test } from 'vitest';
import { closeAfterAll } from '../support/harness.ts';
import { table } from './matrix.data.ts';
import type { Call, Row } from './matrix.row.ts';
import { demandsOf, operationOf, send } from './send.ts';
import { createWorld, type Role, roles, written } from './world.ts';

const w = closeAfterAll(await createWorld());

const statusOf: Record<string, number> = { '-': 403, '?': 404, '0': 401 };

/** The call that serves several roles of a row, once one of them has made it. */
type Shared = { call?: Promise<Call> };

/**
 * The call of a role. What is refused, or only reads, leaves its object as it was, which is seen: one object then serves all such
 * roles of a row that does not ask which role it is.
 */
async function callOf(row: Row, role: Role, mark: string, shared: Shared): Promise<Call> {
  const leavesAlone = mark !== '+' || row.operation.startsWith('GET ');
  if (row.call.length > 1 || !leavesAlone) return await row.call(w, role);
  shared.call ??= Promise.resolve(row.call(w, role));
  return await shared.call;
}

async function expectOutcome(row: Row, role: Role, mark: string, shared: Shared): Promise<void> {
  const call = await callOf(row, role, mark, shared);
  const client = await (call.usesToken ? w.passing(role) : w.client(role));
  if (mark !== '+') await written(w);
  const { status, answer } = await send(w, row, call, client);
  const changed = mark === '+' ? [] : await written(w);
  await call.after?.();
  const rowByRow = status === 200 && call.refused?.(answer!.body) === true;
  if (mark === '+') {
    expect(rowByRow, 'refused').toBe(false);
    expect(status, answer?.text).toBeGreaterThanOrEqual(200);
    expect(status, answer?.text).toBeLessThan(300);
    return;
  }
  if (!rowByRow) expect(status, answer?.text).toBe(statusOf[mark]);
  if (status === 401) expect(answer?.headers['www-authenticate'] ?? 'Bearer').toMatch(/^Bearer/);
  if (status === 403 && answer)
    expect((answer.body.error?.innererror ?? answer.body).permission, 'the missing permission').toMatch(
      /^[a-z_]+\.[a-z_]+$/,
    );
  expect(changed, 'tables written').toEqual([]);
}

describe.each(table)('$operation', (row) => {
  const marks = row.outcomes.split(' ');
  const shared: Shared = {};
  test.each(roles.map((role, at) => ({ role, mark: marks[at]! })))('$mark $role', ({ role, mark }) =>
    expectOutcome(row, role, mark, shared),
  );
});

test('every operation of the description has its row, and every row its operation', () => {
  const expected = new Set(table.map(operationOf));
  expect([...expected].sort()).toEqual([...demandsOf(w).keys()].sort());
});

test('a write to any table is seen, and one that was undone is not', async () => {
  const { db } = w.t.services;
  await written(w);
  await db('tag_groups').insert({ name: 'Watched' });
  expect(await written(w)).toEqual(['tag_groups']);
  await db('tag_groups').where({ name: 'Watched' }).update({ name: 'Watched' });
  expect(await written(w)).toEqual(['tag_groups']);
  const undone = new Error('undone');
  await expect(
    db.transaction(async (trx) => {
      await trx('tag_groups').where({ name: 'Watched' }).delete();
      throw undone;
    }),
  ).rejects.toBe(undone);
  expect(await written(w)).toEqual([]);
  await db('tag_groups').where({ name: 'Watched' }).delete();
  expect(await written(w)).toEqual(['tag_groups']);
  const tables: string[] = await db('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
  const seen: string[] = await db('pg_trigger')
    .join('pg_class', 'pg_class.oid', 'tgrelid')
    .where({ tgname: 'watched' })
    .pluck('relname');
  expect(seen.sort()).toEqual(tables.sort());
});

test('every row has a mark for every role', () => {
  for (const { operation, outcomes } of table) expect(outcomes, operation).toMatch(/^[-+?0]( [-+?0]){6}$/);
});
