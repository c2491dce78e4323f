import Type, { type TProperties } from 'typebox';
import { malformedCursor, mismatchedCursor } from '../../domain/kernel/lists/lists.cursor.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { Choice, Count, Nullable } from '../../domain/kernel/shapes.ts';
import { sha256 } from '../../platform/crypto.ts';
import { embed, fragment, joinFragments, query, type Sql } from '../../platform/database.ts';

/** Maximum number of rows of a JSON response. */
export const MAX_ROWS = 5_000;

/** The rows of a report that a response contains; absent: all of them. */
export interface RowRange {
  /** Maximum number of rows; 0 for the totals alone. */
  limit: number;
  /** The keys of the first row; absent: from the beginning. */
  from?: string[];
  /** Identifies the request in cursors. */
  bound: string;
}

/** Query parameters of reports with many rows. */
export const rangeParams = {
  cursor: Type.Optional(
    Type.String({
      maxLength: 6000,
      description: 'The `next_cursor` of the previous response; absent or empty for the first rows',
    }),
  ),
  page_size: Type.Integer({
    minimum: 1,
    maximum: MAX_ROWS,
    default: MAX_ROWS,
    description: 'Maximum number of rows of a JSON response; files and charts cover all rows',
  }),
  detail: Choice(['rows', 'aggregate'], {
    default: 'rows',
    description: '`aggregate`: no rows, only totals and groups, which are complete in each response',
  }),
};

/** The values of {@link rangeParams}. */
export interface RangeQuery {
  cursor?: string | undefined;
  page_size: number;
  detail: 'rows' | 'aggregate';
}

/** Members of the result of a report with many rows, besides them. */
export const rangeMembers = {
  row_count: Type.Integer({ ...Count, description: 'The number of rows on all pages' }),
  next_cursor: Nullable(Type.String({ description: 'The cursor of the next rows; null after the last' })),
} satisfies TProperties;

type KeyType = 'text' | 'numeric' | 'uuid' | 'date' | 'integer';

/** SQL of one part of an order, which is ascending and never NULL. */
export interface RowKey {
  sql: string;
  type: KeyType;
}

/** The id of a card over the alias `c`, as a key. */
export const idKey: RowKey = { sql: 'c.id', type: 'uuid' };

/** The order by the name of a card over the alias `c`. */
export const nameKeys: RowKey[] = [{ sql: 'c.name_key', type: 'text' }, idKey];

/** The rows of a report as SQL. */
export interface RowSource {
  /** The SQL before SELECT (`with ...`). */
  before?: Fragment;
  /** The SQL after FROM, without an order: one row with the given alias for each row of the report. */
  from: Fragment;
  /** The alias of the rows; default `c`. */
  alias?: string;
  /** A total order over the alias. */
  keys: RowKey[];
  /** SQL of a row's JSON over the alias, made by `jsonLine`. It is only evaluated for the rows of the range. */
  line: string;
  /** Joins to the rows of the range, for `line`. */
  joins?: Fragment;
}

/** The rows that were read, and what follows. */
export interface ReadRows {
  /** Lines, separated by commas. */
  lines: Buffer;
  /** The number of all rows. */
  count: number;
  /** The keys of the first row after the range; undefined after the last row. */
  next: string[] | undefined;
}

const LF = 10;
const BRACKET = 0x5b;

/**
 * Reads a range of rows as lines of JSON; of a range, one row more is read for the cursor.
 * @param readLines reads the items of an array as lines.
 */
export async function readRows(
  sql: Sql,
  readLines: (query: Fragment) => Promise<Buffer>,
  source: RowSource,
  range: RowRange | undefined,
): Promise<ReadRows> {
  if (!range) {
    const lines = await readLines(rowsStatement(source));
    return { lines, count: linesOf(lines), next: undefined };
  }
  if (range.limit === 0)
    return { lines: Buffer.alloc(0), count: await countRows(sql, source), next: undefined };
  const read = await readLines(rowsStatement(source, range));
  const last = read.lastIndexOf(LF) + 1;
  const isCut = read[last] === BRACKET;
  const lines = isCut ? read.subarray(0, Math.max(0, last - 2)) : read;
  const next = isCut ? (JSON.parse(read.toString('utf8', last)) as string[]) : undefined;
  const count = isCut || range.from ? await countRows(sql, source) : linesOf(lines);
  return { lines, count, next };
}

/** The ids of rows whose first member is `id`, from their lines. */
export const idsIn = (lines: Buffer): string[] =>
  (JSON.parse(`[${lines.toString()}]`) as { id: string }[]).map(({ id }) => id);

/**
 * The condition of the cards that are the rows of a response, over the alias `c`.
 * @param cards the condition of all rows. @param keys their order.
 */
export async function cardsOfPage(
  { range, rows }: { range: RowRange | undefined; rows(source: RowSource): Promise<Buffer> },
  cards: Fragment,
  keys: RowKey[] = nameKeys,
): Promise<Fragment> {
  const from = fragment`cards c where ${embed(cards)}`;
  const read = await rows({ from, keys, line: `'{"id":"' || c.id || '"},'` });
  return range ? fragment`c.id = any(${idsIn(read)}::uuid[])` : cards;
}

/** The number of lines, which are separated by line feeds. */
function linesOf(lines: Buffer): number {
  if (lines.length === 0) return 0;
  let count = 1;
  for (let at = lines.indexOf(LF); at >= 0; at = lines.indexOf(LF, at + 1)) count += 1;
  return count;
}

async function countRows(sql: Sql, { before, from }: RowSource): Promise<number> {
  return Number(await query(sql).value`${embed(before ?? fragment``)} select count(*) from ${embed(from)}`);
}

/**
 * The statement of all rows, or of a range: then the row after it is an array of its keys instead of its line.
 */
function rowsStatement(source: RowSource, range?: RowRange): Fragment {
  const { before = fragment``, from, alias = 'c', keys, line, joins = fragment`` } = source;
  const order = keys.map(({ sql }) => sql).join(', ');
  const rows = fragment`(select ${embed(alias)}.* from ${embed(from)}) ${embed(alias)}`;
  if (!range) {
    return fragment`${embed(before)} select ${embed(line)} from ${embed(rows)} ${embed(joins)} order by ${embed(order)}`;
  }
  const { limit, from: start } = range;
  const values = start?.map((key, n) => fragment`${key}::${embed(keys[n]!.type)}`);
  const after = values
    ? fragment`where (${embed(order)}) >= (${embed(joinFragments(values, ', '))})`
    : fragment``;
  const names = keys.map((_, n) => `key_${n + 1}`);
  const columns = keys.map((key, n) => `${key.sql} as ${names[n]}`).join(', ');
  const ends = names.map((name) => `${alias}.${name}::text`).join(', ');
  // the line is built after the limit, since it is expensive
  return fragment`${embed(before)}
    select case when ${embed(alias)}.row_n <= ${limit}::int then ${embed(line)}
      else to_json(array[${embed(ends)}])::text || ',' end
    from (select k.*, row_number() over (order by ${embed(names.join(', '))}) as row_n from (
        select ${embed(alias)}.*, ${embed(columns)} from ${embed(rows)} ${embed(after)}
        order by ${embed(names.join(', '))} limit ${limit + 1}) k) ${embed(alias)} ${embed(joins)}
    order by ${embed(alias)}.row_n`;
}

const forms: Record<KeyType, RegExp> = {
  // PostgreSQL has no texts with NUL
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not occur
  text: /^[^\u0000]*$/,
  numeric: /^-?\d{1,130}(?:\.\d{1,130})?$/,
  uuid: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/,
  date: /^(?:\d{4,6}-\d\d-\d\d|infinity)$/,
  integer: /^-?\d{1,9}$/,
};

/** Encodes the keys of the next row. */
export const encodeRowCursor = (bound: string, keys: string[]): string =>
  Buffer.from(JSON.stringify([bound, ...keys])).toString('base64url');

/**
 * Decodes a cursor from a client; {@link requireKeys} checks its keys.
 * @throws EstateError 422 for a text that is no cursor, `cursor_mismatch` for one of another request.
 */
function decodeRowCursor(cursor: string, bound: string): string[] {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  if (!Array.isArray(parts) || !parts.every((part) => typeof part === 'string')) throw malformedCursor();
  const [hash, ...keys] = parts as string[];
  if (hash !== bound) throw mismatchedCursor();
  return keys;
}

/**
 * The range of rows that a query requests.
 * @param request what its cursors belong to: the report with its parameters, cards and time.
 * @throws EstateError 422 for a text that is no cursor, `cursor_mismatch` for one of another request.
 */
export function rangeOf({ cursor, page_size, detail }: RangeQuery, request: unknown): RowRange {
  const bound = sha256(JSON.stringify(request)).slice(0, 16);
  if (detail === 'aggregate') return { limit: 0, bound };
  return { limit: page_size, bound, ...(cursor ? { from: decodeRowCursor(cursor, bound) } : {}) };
}

/** @throws EstateError 422 if the keys of a cursor do not have the types of an order. */
export function requireKeys(from: string[] | undefined, keys: RowKey[]): void {
  if (from && (from.length !== keys.length || !keys.every(({ type }, n) => forms[type].test(from[n]!)))) {
    throw malformedCursor();
  }
}
