import { notConnected } from '../../../../platform/outbound.rules.ts';
import { OutboundOverflow, OutboundRefusal, type OutboundResponse } from '../../../../platform/outbound.ts';
import { DeadlinePassed, type RecordLookup, RemoteError, type RemoteErrorCode } from '../remote.ts';
import type { RemoteTable } from './connector.ts';

/** What a response means, and what follows from it. */
export type ReadResponse =
  | { kind: 'done'; result: unknown }
  | {
      /** `final`: another attempt would end the same way. */
      kind: 'rate_limited' | 'unauthenticated' | 'incomplete' | 'unavailable' | 'final';
      error: RemoteError;
    };

/** Decides what a response of one kind of remote means. */
export type ResponseReader = (response: OutboundResponse, context: ResponseContext) => ReadResponse;

/** What a response belongs to. */
export interface ResponseContext {
  where: string;
  doing: string;
  isRead: boolean;
  /** By the clock of the remote, milliseconds. */
  now: number;
  /** Removes our secrets from messages of the remote. */
  mask: Mask;
}

/** How one kind of remote reports errors. */
export interface Dialect {
  /** The message of an error document; undefined if the document is none. */
  errorOf(document: unknown, status: number): string | undefined;
  /** The meaning of a status from 400 to 499, if it is not the usual one. */
  meaningOf?(status: number, message: string | undefined): RemoteErrorCode | undefined;
}

/** Reads a JSON response. */
export function readJson(
  response: OutboundResponse,
  context: ResponseContext,
  dialect: Dialect,
): ReadResponse {
  const { status, headers, body } = response;
  const document = status === 204 ? undefined : parse(body);
  const refused = readRefusal(response, context, dialect, document);
  if (refused) return refused;
  if (status === 204) return { kind: 'done', result: undefined };
  if (document === undefined) {
    return /text\/html/i.test(headers['content-type'] ?? '')
      ? uncertainFailure(context, status, 'unreadable_response', 'returned a web page instead of data')
      : uncertainFailure(context, status, 'incomplete_response', 'returned a truncated response');
  }
  // a remote may have sent the status 200 before an error occurs
  const message = dialect.errorOf(document, status);
  if (message === undefined) return { kind: 'done', result: document };
  const what = `returned a partial response${inBrackets(context, message)}`;
  return uncertainFailure(context, status, 'incomplete_response', what);
}

/** What the status of an unsuccessful response means; undefined for a successful one. */
export function readRefusal(
  { status, headers }: OutboundResponse,
  context: ResponseContext,
  dialect: Dialect,
  document: unknown,
): ReadResponse | undefined {
  if (status < 300) return undefined;
  const { where, doing, now } = context;
  const final = (code: RemoteErrorCode, what: string): ReadResponse => ({
    kind: code === 'credentials_refused' ? 'unauthenticated' : 'final',
    error: new RemoteError(code, where, `${doing} ${what}`, { status }),
  });
  if (status === 429) {
    const wait = retryAfterMs(headers['retry-after'], now);
    const more = { status, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
    const what = `${doing} was refused: too many requests`;
    return { kind: 'rate_limited', error: new RemoteError('rate_limited', where, what, more) };
  }
  const message = dialect.errorOf(document, status);
  const quoted = inBrackets(context, message);
  if (status >= 500)
    return uncertainFailure(context, status, 'unavailable', `returned the status ${status}${quoted}`);
  if (status < 400) return final('unreadable_response', `was redirected with the status ${status}`);
  const code = dialect.meaningOf?.(status, message) ?? usualMeanings[status] ?? 'refused';
  if (code === 'credentials_refused') return final(code, 'was refused: the credentials are invalid');
  if (code === 'forbidden') return final(code, `was refused${quoted}`);
  if (code === 'not_found') return final(code, `found nothing${quoted}`);
  return final(code, `was refused with the status ${status}${quoted}`);
}

const usualMeanings: Record<number, RemoteErrorCode> = {
  401: 'credentials_refused',
  403: 'forbidden',
  404: 'not_found',
};

/** A response after which a write may have been executed. */
export const uncertainFailure = (
  { where, doing, isRead }: ResponseContext,
  status: number,
  code: 'incomplete_response' | 'unreadable_response' | 'unavailable',
  what: string,
): ReadResponse => ({
  kind: code === 'incomplete_response' ? 'incomplete' : 'unavailable',
  error: new RemoteError(isRead ? code : 'response_lost', where, `${doing} ${what}`, { status }),
});

/** A message of the remote in brackets. Secrets are removed before the text is cut, so that no part of one remains. */
export const inBrackets = ({ mask }: Pick<ResponseContext, 'mask'>, message: string | undefined): string =>
  message ? ` (${mask(message).slice(0, 200)})` : '';

function parse(body: Buffer): unknown {
  try {
    const document: unknown = JSON.parse(body.toString('utf8'));
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const certificate = /CERT|SSL|TLS|SELF_SIGNED/;

/**
 * What a call without a response means.
 * @returns canRetry: another attempt may succeed and cannot execute a write twice; outcome: for the limiter, `too_slow` if too much
 * was requested at once.
 */
export function connectionError(
  {
    doing,
    isRead,
    where,
    hasPages,
  }: Pick<ResponseContext, 'doing' | 'isRead' | 'where'> & { hasPages: boolean },
  error: Error & { code?: unknown },
): { error: RemoteError; canRetry: boolean; outcome: 'too_slow' | 'unavailable' | 'passed' } {
  const of = (
    code: RemoteErrorCode,
    what: string,
    {
      canRetry = false,
      outcome = 'unavailable',
      ...more
    }: {
      canRetry?: boolean;
      outcome?: 'too_slow' | 'unavailable' | 'passed';
      mayBeRunning?: true;
    } = {},
  ) => ({ error: new RemoteError(code, where, what, more), canRetry, outcome });
  if (error instanceof OutboundRefusal) return of('address_refused', error.message);
  if (error instanceof OutboundOverflow) {
    const what = `${doing} returned a response that is too long: ${error.message}`;
    if (!isRead) return of('response_lost', what, { outcome: 'too_slow' });
    // another response would be as long, unless it has fewer rows
    return hasPages
      ? of('incomplete_response', what, { canRetry: true, outcome: 'too_slow' })
      : of('unexpected_response', what, { outcome: 'passed' });
  }
  const { code: causeCode, message } = (error.cause ?? {}) as { code?: unknown; message?: unknown };
  // Fetch standard, port blocking
  if (message === 'bad port')
    return of('address_refused', `${doing} would use a port that the Fetch standard blocks`);
  const code = String(causeCode ?? error.code ?? '');
  const isCertificate = certificate.test(code);
  const isTooSlow = error instanceof DeadlinePassed || error.name === 'TimeoutError';
  const outcome = isTooSlow ? 'too_slow' : 'unavailable';
  // closed and filtered ports have the same message; a certificate error is named, so that it can be corrected
  const named = isCertificate ? ` (${code})` : '';
  const what = isTooSlow ? `${doing} timed out` : `${doing} lost its connection${named}`;
  if (!isRead && !isCertificate && !notConnected.has(code))
    return of('response_lost', what, { outcome, ...(isTooSlow ? { mayBeRunning: true } : {}) });
  return of(isTooSlow ? 'timed_out' : 'unreachable', what, { canRetry: !isCertificate, outcome });
}

/** Order by time, then by id. */
export const byTime = (a: { at: string; id: string }, b: { at: string; id: string }): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1;

export const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** The tables whose name or label contains a text, by name. */
export function searchTables(tables: readonly RemoteTable[], search: string): RemoteTable[] {
  const text = search.trim().toLowerCase();
  return tables.filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(text)).sort(byName);
}

/** The columns that none of the rows has; none if there are no rows. */
export const absentColumns = <Row>(
  rows: readonly Row[],
  columns: readonly string[],
  valueAt: (row: Row, column: string) => unknown,
): string[] =>
  rows.length === 0
    ? []
    : columns.filter((column) => rows.every((row) => valueAt(row, column) === undefined));

/** The record of a lookup; undefined if it was not found. */
export const recordIn = (lookup: RecordLookup | undefined) =>
  lookup?.kind === 'there' ? lookup.record : undefined;

/** All pages of a paged read. @param read the page at a cursor, null for the first. */
export async function* pagesOf<P extends { next: C | null }, C = string>(
  read: (cursor: C | null) => Promise<P>,
): AsyncGenerator<P> {
  let cursor: C | null = null;
  do {
    const page: P = await read(cursor);
    yield page;
    cursor = page.next;
  } while (cursor !== null);
}

/** Reads several lists one after the other, as one paged list. @param read reads a page of one of them. */
export async function readListsSequentially<L, P extends { next: string | null }>(
  lists: readonly L[],
  cursor: string | null,
  read: (list: L, cursor: string | null) => Promise<P>,
): Promise<P> {
  interface ListCursor {
    index: number;
    within: string | null;
  }
  const { index, within }: ListCursor = cursor === null ? { index: 0, within: null } : JSON.parse(cursor);
  const page = await read(lists[index]!, within);
  const next: ListCursor =
    page.next === null ? { index: index + 1, within: null } : { index, within: page.next };
  return { ...page, next: next.index < lists.length ? JSON.stringify(next) : null };
}

/** Replaces secrets in messages of a remote. */
const MASK = '[cut]';

/** Removes secrets from a text. */
export type Mask = (text: string) => string;

/**
 * Creates a function that removes these secrets from texts, in plain form or encoded as the remote may return them: for URLs, HTML,
 * JSON or base64.
 */
export function maskOf(secrets: readonly (string | undefined)[]): Mask {
  const forms = new Set(secrets.flatMap((secret) => (secret ? formsOf(secret) : [])));
  if (forms.size === 0) return (text) => text;
  // longest first: a shorter secret may be part of a longer one
  const longest = [...forms].sort((left, right) => right.length - left.length);
  const pattern = new RegExp(
    longest.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'),
    'gi',
  );
  return (text) => text.replace(pattern, MASK);
}

/** The secrets in an Authorization header: the whole header, the credentials after the scheme, and the password of Basic. */
export function secretsIn(authorization: string): string[] {
  const [, scheme, token = ''] = /^(\S+)\s+(.+)$/.exec(authorization) ?? [];
  if (token === '') return authorization === '' ? [] : [authorization];
  if (!/^basic$/i.test(scheme!)) return [token];
  const decoded = Buffer.from(token, 'base64').toString('utf8');
  return [token, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}

function formsOf(secret: string): string[] {
  const html = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    html,
    html.replaceAll("'", '&#39;'),
    html.replaceAll("'", '&#039;'),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}
