import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestAnswer, TestClient } from '../support/harness.ts';
import { table } from './matrix.data.ts';
import { anyAddress, type Call, type Row } from './matrix.row.ts';
import { createWorld, fingerprint, type Role, roles, type World } from './world.ts';

let w: World;
beforeAll(async () => {
  w = await createWorld();
});
afterAll(() => w.close());

const statusOf: Record<string, number> = { '-': 403, '?': 404, '0': 401 };

async function send(
  row: Row,
  call: Call,
  client: TestClient,
): Promise<{ status: number; answer?: TestAnswer }> {
  if (call.send) return { status: await call.send(w, client.token) };
  const [method, pattern] = row.operation.split(' ') as ['GET', string];
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => call.path![name]!);
  const json = call.body === undefined ? undefined : JSON.stringify(call.body);
  const mediaType = call.raw?.mediaType ?? (json && 'application/json');
  const answer = await client.request({
    method,
    url: call.query ? `${path}?${call.query}` : path,
    ...(mediaType ? { headers: { 'content-type': mediaType }, payload: call.raw?.text ?? json } : {}),
    ...(call.apart ? { remoteAddress: anyAddress() } : {}),
  });
  return { status: answer.status, answer };
}

async function expectOutcome(row: Row, role: Role, mark: string): Promise<void> {
  const call = await row.call(w, role);
  const client = await (call.usesToken ? w.passing(role) : w.client(role));
  const before = mark === '+' ? undefined : await fingerprint(w);
  const { status, answer } = await send(row, call, client);
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
  expect(await fingerprint(w), 'the database').toBe(before);
}

describe.each(table)('$operation', (row) => {
  const marks = row.outcomes.split(' ');
  test.each(roles.map((role, at) => ({ role, mark: marks[at]! })))('$mark $role', ({ role, mark }) =>
    expectOutcome(row, role, mark),
  );
});

test('every operation of the description has its row, and every row its operation', () => {
  const { paths } = w.t.app.swagger() as { paths: Record<string, Record<string, unknown>> };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const expected = new Set(table.map(({ operation }) => operation.replace(/ \(.*\)$/, '')));
  expect([...expected].sort()).toEqual(described.sort());
});

test('every row has a mark for every role', () => {
  for (const { operation, outcomes } of table) expect(outcomes, operation).toMatch(/^[-+?0]( [-+?0]){6}$/);
});
