import { RemoteError } from '../../remote.ts';
import {
  type Dialect,
  inBrackets,
  type ReadResponse,
  type ResponseContext,
  type ResponseReader,
  readRefusal,
} from '../responses.ts';
import { isRow, type Row } from './records.ts';

// the form of errors is unknown
const dialect: Dialect = { errorOf: () => undefined };

/** Reads the bytes of a response; undefined for 304, if nothing has changed. */
export const readResponse: ResponseReader = (response, context) => {
  const { status, headers, body } = response;
  if (status === 304) return { kind: 'done', result: undefined };
  // some servers answer 403 at their rate limit
  const final = (what: string): ReadResponse => ({
    kind: 'final',
    error: new RemoteError('unexpected_response', context.where, `${context.doing} ${what}`, { status }),
  });
  const isLimited = headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0';
  if (status === 403 && isLimited) return asRateLimited(response, context);
  if (status >= 300 && status < 400) {
    const to = headers.location === undefined ? '' : ` to ${shownLocation(headers.location, context)}`;
    return final(`was redirected${to} with the status ${status}, which is not followed`);
  }
  const refused = readRefusal(response, context, dialect, undefined);
  if (refused) return refused;
  if (status !== 200) {
    // another success, such as 206 and 207, may have only a part of the rows
    return final(`returned the status ${status} instead of 200`);
  }
  const start = body.subarray(0, 100).toString('latin1');
  const isPage = /text\/html/i.test(headers['content-type'] ?? '') || /^\s*<(!|html|\?xml)/i.test(start);
  if (!isPage) return { kind: 'done', result: body };
  const title = /<title[^>]*>([^<]{1,100})/i.exec(body.subarray(0, 10_000).toString('utf8'))?.[1]?.trim();
  return final(`returned a web page instead of data${inBrackets(context, title)}`);
};

/** Where a redirection leads, without the query, which may contain secrets. */
function shownLocation(location: string, { mask }: Pick<ResponseContext, 'mask'>): string {
  return mask(location.split(/[?#]/)[0]!).slice(0, 200);
}

/** Codes of GraphQL errors by which servers report a rate limit with the status 200. */
const rateLimits = /^(RATE_LIMITED|RATE_LIMIT|THROTTLED|MAX_NODE_LIMIT_EXCEEDED)$/i;

/** As readResponse; a response with errors is refused as a whole, since its data may be incomplete (GraphQL, 7.1). */
export const readGraphQl: ResponseReader = (response, context) => {
  const errors = errorsIn(response.body);
  const codes = errors.flatMap(({ type, extensions }) => [
    type,
    isRow(extensions) ? extensions.code : undefined,
  ]);
  if (codes.some((code) => typeof code === 'string' && rateLimits.test(code)))
    return asRateLimited(response, context);
  const read = readResponse(response, context);
  if (read.kind !== 'done' || errors.length === 0) return read;
  const message = inBrackets(context, String(errors[0]!.message ?? ''));
  return {
    kind: 'final',
    error: new RemoteError(
      'refused',
      context.where,
      `${context.doing} returned ${errors.length} GraphQL errors${message}`,
    ),
  };
};

const asRateLimited: ResponseReader = (response, context) =>
  readRefusal({ ...response, status: 429 }, context, dialect, undefined)!;

/** Errors that a JSON document without GraphQL lists beside its rows. */
export function errorsBeside(document: unknown, rows: unknown): unknown[] {
  const errors = isRow(document) ? document.errors : undefined;
  return Array.isArray(errors) && errors !== rows ? errors : [];
}

function errorsIn(body: Buffer): Row[] {
  try {
    const document: unknown = JSON.parse(body.toString('utf8'));
    const errors = isRow(document) ? document.errors : undefined;
    if (errors === undefined || errors === null) return [];
    const list = Array.isArray(errors) ? errors : [errors];
    return list.map((error) => (isRow(error) ? error : { message: String(error) }));
  } catch {
    return [];
  }
}
