import { expect, test } from 'vitest';
import { closeAfterAll } from '../support/harness.ts';
import { table } from './matrix.data.ts';
import type { Call, Row } from './matrix.row.ts';
import { demandsOf, operationOf, send } from './send.ts';
import { createWorld, type Role, roles, written } from './world.ts';

const w = closeAfterAll(await createWorld());

const statusOf: Record<string, number> = { '-': 403, '?': 404, '0': 401 };

interface Case {
  role: Role;
  mark: string;
  call: Call;
}

async function request(row: Row, { role, call }: Case) {
  const client = await (call.usesToken ? w.passing(role) : w.client(role));
  const { status, answer } = await send(w, row, call, client);
  const text = `${role}: ${answer?.text}`;
  return {
    role,
    status,
    body: answer?.body,
    headers: answer?.headers,
    text,
    byRow: status === 200 && call.refused?.(answer!.body) === true,
  };
}

async function expectAllowed(row: Row, allowed: Case): Promise<void> {
  const { role, status, text, byRow } = await request(row, allowed);
  await allowed.call.after?.();
  expect(byRow, `${role}: refused`).toBe(false);
  expect(status, text).toBeGreaterThanOrEqual(200);
  expect(status, text).toBeLessThan(300);
}

/** Refused requests are sent together: none may write, so that none changes what another finds. */
async function expectRefused(row: Row, refused: Case[]): Promise<void> {
  await written(w);
  const answers = await Promise.all(refused.map((one) => request(row, one)));
  const changed = await written(w);
  for (const { call } of refused) await call.after?.();
  for (const [at, { status, body, headers, text, byRow }] of answers.entries()) {
    if (!byRow) expect(status, text).toBe(statusOf[refused[at]!.mark]);
    if (status === 401) expect(headers?.['www-authenticate'] ?? 'Bearer').toMatch(/^Bearer/);
    if (status === 403 && body)
      expect((body.error?.innererror ?? body).permission, `${text}: the missing permission`).toMatch(
        /^[a-z_]+\.[a-z_]+$/,
      );
  }
  expect(changed, 'tables written').toEqual([]);
}

/**
 * What is refused, or only reads, leaves its object as it was: one object serves all such roles of a row, unless its call asks
 * which role it is.
 */
test.each(table)('$outcomes $operation', async (row) => {
  const marks = row.outcomes.split(' ');
  const isRead = row.operation.startsWith('GET ');
  let shared: Call | undefined;
  const caseOf = async (role: Role, mark: string): Promise<Case> => {
    if (row.call.length > 1 || (mark === '+' && !isRead))
      return { role, mark, call: await row.call(w, role) };
    shared ??= await row.call(w, role);
    return { role, mark, call: shared };
  };
  const refused: Case[] = [];
  for (const [at, role] of roles.entries()) {
    const one = await caseOf(role, marks[at]!);
    if (one.mark === '+') await expectAllowed(row, one);
    else refused.push(one);
  }
  if (refused.length > 0) await expectRefused(row, refused);
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
