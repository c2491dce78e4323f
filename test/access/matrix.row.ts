import { form, type Part } from '../support/forms.ts';
import type { Role, World } from './world.ts';

/** One request: how the braces of the path are filled, and what is sent. */
export interface Call {
  path?: Record<string, string>;
  query?: string;
  body?: unknown;
  /** A body that is not JSON. */
  raw?: { mediaType: string; text: string | Buffer };
  /** Sends it from an address of its own, so that nobody is throttled for another. */
  apart?: boolean;
  /** Uses up the token, so that somebody else of the role has to act. */
  usesToken?: boolean;
  /** Puts back what the request has changed for whoever sent it. */
  after?(): Promise<void>;
  /** Whether a 200 is a refusal: operations on many things answer row by row. */
  refused?(body: { results: { code: string | null }[] }): boolean;
  /** Sends it in another way, and answers the status. */
  send?(world: World, token: string): Promise<number>;
}

export interface Row {
  /** As in the API's description; what stands in brackets behind tells rows of one operation apart. */
  operation: string;
  /**
   * A mark for each role, in the order of the columns: `+` allowed (2xx), `-` refused (403), `?` as if it did
   * not exist (404), `0` login required (401).
   */
  outcomes: string;
  call(world: World, role: Role): Call | Promise<Call>;
}

/**
 * A row of the table. The path of the operation is below `/api/v1` unless told. The body, or what makes it, may stand
 * apart from the call.
 */
export const row = (operation: string, outcomes: string, call: Row['call'] = () => ({}), body?: Body) => ({
  operation: operation.replace(/^(\w+) (?!\/(?:api|odata|scim|metrics|portal|mcp)\b)/, '$1 /api/v1'),
  outcomes,
  call: body === undefined ? call : sending(call, body),
});
type Body = object | ((w: World, role: Role) => unknown);
const sending =
  (call: Row['call'], body: Body): Row['call'] =>
  async (w, role) => ({
    ...(await call(w, role)),
    body: typeof body === 'function' ? await body(w, role) : body,
  });

/** Acts on something that is made for it. */
export const onNew =
  (param: string, make: (w: World, role: Role) => Promise<string>): Row['call'] =>
  async (w, role) => ({ path: { [param]: await make(w, role) } });
/** A form, as a body that is not JSON. */
export function formOf(...parts: Part[]): Pick<Call, 'raw'> {
  const { headers, payload } = form(...parts);
  return { raw: { mediaType: headers['content-type'], text: payload } };
}
export const csv = (text: string) => ({ raw: { mediaType: 'text/csv', text } });
export const onCard = async (w: World) => ({ path: { id: await w.card() } });

/** The number of a card. */
export const numberOf = async (w: World, id: string): Promise<string> =>
  (await w.t.services.db('cards').where({ id }).first('number')).number;

/** An address that nobody has used before. */
export function anyAddress(): string {
  const part = () => Math.floor(Math.random() * 254) + 1;
  return `10.${part()}.${part()}.${part()}`;
}
