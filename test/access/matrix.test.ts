import { randomUUID } from 'node:crypto';
import { closeAfterAll } from '../support/harness.ts';
import { table } from './matrix.data.ts';
import type { Call, Row } from './matrix.row.ts';
import { demandsOf, guardedOf, operationOf, send } from './send.ts';
import { createWorld, type Role, roles, written } from './world.ts';

const w = closeAfterAll(await createWorld());

const guarded = guardedOf(w);

const statusOf: Record<string, number> = { '-': 403, '?': 404, '0': 401 };

type Case = { role: Role; mark: string; call: Call };

async function request(row: Row, { role, call }: Case) {
  const client = await (call.usesToken ? w.passing(role) : w.client(role));
  const { status, answer } = await send(w, row, call, client);
  return {
    role,
    status,
    body: answer?.body,
    headers: answer?.headers,
    text: `${role}: ${answer?.text}`,
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

const codeOf: Record<number, string> = {
  404: 'not_found',
  412: 'precondition_failed',
  422: 'validation_failed',
};

/** Unknown and malformed ids, and versions other than the current one, are refused for an administrator, and nothing is written. */
async function expectAddressed(row: Row, call: Call): Promise<void> {
  const admin = await w.client('admin');
  const operation = operationOf(row);
  const { path = {} } = call;
  const sent: [what: string, status: number, call: Call, headers?: Record<string, string>][] = [];
  for (const [, name] of operation.matchAll(/\{(\w+)\}/g)) {
    const isId = /^[\da-f]{8}-[\da-f-]{27}$/.test(path[name!]!);
    const other = (value: string): Call => ({ ...call, path: { ...path, [name!]: value } });
    sent.push([`an unknown ${name}`, 404, other(isId ? randomUUID() : 'nothing')]);
    // to SCIM any text is an id
    if (isId) sent.push([`a malformed ${name}`, operation.includes(' /scim/') ? 404 : 422, other('x')]);
  }
  if (guarded.has(operation)) sent.push(['another version', 412, call, { 'if-match': '"old"' }]);
  await written(w);
  const answers = await Promise.all(sent.map(([, , one, headers]) => send(w, row, one, admin, headers)));
  const outcomes = answers.map(({ status, answer }, at) => {
    const { error, code = error?.innererror?.code ?? error?.code } = answer!.body;
    return [sent[at]![0], status, code];
  });
  expect(outcomes).toEqual(sent.map(([what, status]) => [what, status, codeOf[status]]));
  expect(await written(w), 'tables written').toEqual([]);
}

/** One object serves all roles of a row until an allowed write changes it, unless its call asks which role it is. */
test.each(table)('$outcomes $operation', async (row) => {
  const marks = row.outcomes.split(' ');
  const cases = roles.map((role, at) => ({ role, mark: marks[at]! }));
  let unchanged: Call | undefined;
  const withCall = async ({ role, mark }: Omit<Case, 'call'>): Promise<Case> => {
    const call = unchanged ?? (await row.call(w, role));
    if (row.call.length < 2) unchanged = call;
    return { role, mark, call };
  };
  const refused: Case[] = [];
  for (const one of cases) if (one.mark !== '+') refused.push(await withCall(one));
  if (refused.length > 0) await expectRefused(row, refused);
  if (unchanged && marks[0] === '+' && !unchanged.send) await expectAddressed(row, unchanged);
  for (const one of cases) {
    if (one.mark !== '+') continue;
    await expectAllowed(row, await withCall(one));
    if (!row.operation.startsWith('GET ')) unchanged = undefined;
  }
});

test('every operation of the description has its row, and every row its operation', () =>
  expect([...new Set(table.map(operationOf))].sort()).toEqual([...demandsOf(w).keys()].sort()));

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
