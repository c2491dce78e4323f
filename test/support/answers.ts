export interface TestResponse {
  status: number;
  headers: Record<string, string>;
  /** The parsed body, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  body: any;
  text: string;
  raw: Buffer;
}

type Call = Answer | Promise<Answer>;
type Answer = { status: number; body?: TestResponse['body']; text?: string };

/** Expects that a request succeeds. @returns its response. */
export async function answered<T extends Answer>(call: T | Promise<T>, status = 200): Promise<T> {
  const answer = await call;
  expect(answer.status, answer.text).toBe(status);
  return answer;
}

/** Expects that a request succeeds. @returns the body of its response. */
export const ok = async (call: Call, status?: number): Promise<TestResponse['body']> =>
  (await answered(call, status)).body;

/**
 * What a refusal says: its status, the code of the problem or, with 403, the permission that is missing, the fields that are
 * named, each alone or as `field code`, and other members. Without fields, a validation error may name every field.
 */
export type Problem = [status: number, reason?: string, ...details: (string | Record<string, unknown>)[]];

/** Expects that a request is refused. */
export async function expectProblem(call: Call, ...[status, reason, ...details]: Problem) {
  const answer = await call;
  const { code, permission, errors = [] } = answer.body ?? {};
  const fields = details.filter((detail) => typeof detail === 'string');
  for (const members of details) if (typeof members === 'object') expect(answer.body).toMatchObject(members);
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
export const pluck = (rows: TestResponse['body'], ...names: string[]): TestResponse['body'][] =>
  rows.map((row: Record<string, unknown>) => {
    const values = names.map((name) => row[name]);
    return values.length === 1 ? values[0] : values;
  });

/** The rows of a text of NDJSON. */
export const jsonLines = (text: string): TestResponse['body'][] =>
  text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));

/** The types of events of a resource without its name, such as `created updated`; those of others are whole. */
export const eventKinds = (events: TestResponse['body'], resource: string): string =>
  pluck(events, 'event_type')
    .join(' ')
    .replaceAll(new RegExp(`\\b${resource}[.]`, 'g'), '');
