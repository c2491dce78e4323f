import type { Response } from '../http.ts';

/** A request as the parts of an instance see it. */
export type Request = { method: string; path: string; query: URLSearchParams; body: string };

/** The form of every refusal of the REST APIs. */
export const failure = (status: number, message: string, detail: string | null): Response => ({
  status,
  body: { error: { message, detail }, status: 'failure' },
});

/** The object of a body; undefined where it is none. */
export function readObject(body: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(body);
    return typeof value === 'object' && !Array.isArray(value) ? (value ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

export const malformed = failure(400, 'Exception while reading request', 'The payload is not valid JSON.');

/** Values as the database has them: texts. */
export const textsOf = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)]),
  );
