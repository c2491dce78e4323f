import { expect } from 'vitest';

export interface TestAnswer {
  status: number;
  headers: Record<string, string>;
  /** The parsed body, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  body: any;
  text: string;
  raw: Buffer;
}

type Call = Answer | Promise<Answer>;
type Answer = { status: number; body?: TestAnswer['body']; text?: string };

/** Expects that a request succeeds. @returns the body of its response. */
export async function ok(call: Call, status = 200): Promise<TestAnswer['body']> {
  const answer = await call;
  expect(answer.status, answer.text).toBe(status);
  return answer.body;
}

/**
 * Expects that a request is refused.
 * @param reason the code of the problem or, with 403, the permission that is missing.
 * @param fields the fields that are named, each alone or as `field code`; without any, a validation error may name every field.
 */
export async function expectProblem(call: Call, status: number, reason?: string, ...fields: string[]) {
  const answer = await call;
  const { code, permission, errors = [] } = answer.body ?? {};
  if (reason === undefined) return expect(answer.status, answer.text).toBe(status);
  const actual = [answer.status, reason === permission ? permission : code];
  if (fields.length > 0 || code !== 'validation_failed') {
    const named = (error: Record<string, string>, at: number) =>
      fields[at]?.includes(' ') ? `${error.field} ${error.code}` : error.field;
    actual.push(...errors.map(named));
  }
  expect(actual, answer.text).toEqual([status, reason, ...fields]);
}

/** What a refusal says: its status and code, and the fields that it names. */
export async function refusal(call: Call): Promise<unknown[]> {
  const { status, body } = await call;
  return [status, body.code, ...pluck(body.errors ?? [], 'field')];
}

/** What a refusal says: its status and code, and `field code` for each fault. */
export async function faults(call: Call): Promise<unknown[]> {
  const { status, body } = await call;
  return [status, body.code, ...pluck(body.errors ?? [], 'field', 'code').map((fault) => fault.join(' '))];
}

/** Expects that a request is refused for the values of the fields, and of no others. */
export const expectInvalid = (call: Call, ...fields: [string, ...string[]]) =>
  expectProblem(call, 422, 'validation_failed', ...fields);

/** What each row has under a name or, given several names, the list of these. */
export const pluck = (rows: TestAnswer['body'], ...names: string[]): TestAnswer['body'][] =>
  rows.map((row: Record<string, unknown>) => {
    const values = names.map((name) => row[name]);
    return values.length === 1 ? values[0] : values;
  });
