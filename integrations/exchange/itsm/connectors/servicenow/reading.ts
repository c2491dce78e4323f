import type { Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import { chunksOf } from '../../../../../platform/chunks.ts';
import { type RecordLookup, RemoteError, type RemoteField, type RemoteRecord } from '../../remote.ts';
import type { Connector, Page, ReadRequest } from '../connector.ts';
import { pagesOf } from '../responses.ts';
import type { Response, Transport } from '../transport.ts';

/** How long before the watermark a delta starts: the time of an update is set before the update is visible. */
const OVERLAP_MS = 60_000;
/** Maximum ids of one query, for the length of the URL. */
const IDS_PER_REQUEST = 100;
/** Maximum number of missing records that are looked up one by one if some are hidden. */
const MAX_SINGLE_LOOKUPS = 25;
/** How often a page with repeated rows is read. */
const ATTEMPTS = 3;
/** Number of rows that are read to test whether a column is readable, since some rows may be hidden. */
const SAMPLE = 20;

/** Where the next page starts. */
interface Cursor {
  id: string;
  /** The last row's time of update, in the order of updates. */
  at?: string;
  /** Number of rows after it that the account may not see. */
  hidden?: number;
  /** Pages are counted: some were short. */
  counted?: boolean;
}

const readCursor = (text: string | null): Cursor =>
  text === null ? { id: '' } : (JSON.parse(text) as Cursor);

const isBeyond = (to: Cursor, from: Cursor): boolean =>
  to.at !== undefined && to.at !== from.at ? to.at > (from.at ?? '') : to.id > from.id;

interface Query {
  table: string;
  conditions: string[];
  order?: string[];
  filter?: string | undefined;
}

export interface Reading extends Pick<Connector, 'readSince' | 'readByIds' | 'findHiddenColumns'> {
  /** @param counted requests the count with each page, instead of separately after a short page. */
  readPage(request: ReadRequest, counted?: boolean): Promise<Page>;
  /** All pages, counted. */
  readPages(request: Omit<ReadRequest, 'cursor'>): AsyncGenerator<Page>;
  /** How many rows match, hidden ones included, and the first visible one. */
  count(query: Query): Promise<{ total: number | undefined; rows: unknown[] }>;
}

type List = (
  query: Query,
  fields: string[],
  more: { limit: number; offset?: number; counted: boolean },
) => Promise<Response>;

/** Looks up rows by id. A missing row counts as gone only if every match is visible. */
async function lookUpRows(
  list: List,
  table: string,
  ids: string[],
  fields: string[],
): Promise<Map<string, RecordLookup>> {
  const lookups = new Map<string, RecordLookup>();
  const lookUp = async (some: string[]): Promise<void> => {
    const query: Query = { table, conditions: [where('sys_id', 'IN', some.join(','))] };
    const { total, result, pageSize } = await list(query, [CHANGES, ...fields], {
      limit: some.length,
      counted: true,
    });
    for (const record of recordsOf(table, result, fields)) lookups.set(record.id, { kind: 'there', record });
    const missing = some.filter((id) => !lookups.has(id));
    if (missing.length === 0) return;
    const found = some.length - missing.length;
    // every match is visible: a missing record does not exist
    const isCertain = total !== undefined && total <= found && pageSize >= some.length;
    if (!isCertain && some.length > 1)
      for (const id of missing.slice(0, MAX_SINGLE_LOOKUPS)) await lookUp([id]);
    for (const id of missing) if (!lookups.has(id)) lookups.set(id, { kind: isCertain ? 'gone' : 'unknown' });
  };
  for (const some of chunksOf([...new Set(ids)], IDS_PER_REQUEST)) await lookUp(some);
  return lookups;
}

export function createReading(transport: Transport): Reading {
  const list: List = ({ table, conditions, order = [], filter }, fields, more) =>
    transport.send({
      method: 'GET',
      path: pathOf(table),
      doing: `Reading ${table}`,
      pageSize: more.limit,
      query: (pageSize) => ({
        sysparm_query: encodedQuery(filter, conditions, order),
        sysparm_fields: [...new Set([...systemColumns, ...fields])].join(','),
        sysparm_limit: String(pageSize),
        ...(more.offset ? { sysparm_offset: String(more.offset) } : {}),
        sysparm_display_value: 'false',
        sysparm_exclude_reference_link: 'true',
        ...(more.counted ? {} : { sysparm_no_count: 'true' }),
      }),
    });

  const count: Reading['count'] = async (query) => {
    const { total, result } = await list(query, [], { limit: 1, counted: true });
    return { total, rows: Array.isArray(result) ? result : [] };
  };

  /** The page of a query that starts after the cursor. */
  const page = async (
    request: ReadRequest,
    query: Query,
    cursor: Cursor,
    counted: boolean,
    cursorAt: (record: { id: string; updatedAt: string }) => Cursor,
    attempts = ATTEMPTS,
  ): Promise<Page> => {
    const { table } = query;
    const { hidden = 0 } = cursor;
    const { limit, fields } = request;
    const response = await list(query, fields, { limit, offset: hidden, counted });
    const { pageSize, result } = response;
    const records = recordsOf(table, result, fields);
    // a repeated row may be in place of a hidden one
    const shown = records.length;
    const last = records.at(-1);
    if (last && !isBeyond(cursorAt(last), cursor)) {
      const what = `Reading ${table} makes no progress: the remote ignores the requested order, or sys_updated_on is hidden`;
      throw new RemoteError('paging_ignored', `table ${table}`, what);
    }
    const after = (more: Partial<Cursor>): string =>
      JSON.stringify({ ...(last ? cursorAt(last) : cursor), hidden: undefined, ...more });
    if (shown >= pageSize)
      return { records, next: after(cursor.counted ? { counted: true } : {}), hasHiddenRows: false };
    // a short page is the last one, or some of its rows are hidden
    const total = counted ? response.total : (await count(query)).total;
    if (total === undefined) return { records, next: last ? after({}) : null, hasHiddenRows: false };
    const hasHiddenRows = total - hidden > shown;
    // the rows that repeated ones replace are not hidden, but the next page would skip them
    const hasRepeatedRows = hasHiddenRows && Array.isArray(result) && result.length > shown;
    if (hasRepeatedRows && attempts > 1) return page(request, query, cursor, true, cursorAt, attempts - 1);
    const isLast = total <= hidden + pageSize;
    const next = after({ counted: true, ...(last ? {} : { hidden: hidden + pageSize }) });
    return {
      records,
      next: isLast ? null : next,
      hasHiddenRows,
      ...(hasRepeatedRows && { hasRepeatedRows }),
    };
  };

  const readPage: Reading['readPage'] = (request, counted = false) => {
    const cursor = readCursor(request.cursor);
    const conditions = cursor.id === '' ? [] : [where('sys_id', '>', cursor.id)];
    const query: Query = { table: request.table, filter: request.filter, conditions, order: ['sys_id'] };
    return page(request, query, cursor, counted || cursor.counted === true, ({ id }) => ({ id }));
  };

  return {
    count,
    readPage,
    readPages: (request) => pagesOf((cursor) => readPage({ ...request, cursor }, true)),

    readSince(request) {
      const { table, filter, since, overlapMs = OVERLAP_MS } = request;
      const cursor = readCursor(request.cursor);
      const at = cursor.at ?? (since === null ? undefined : toRemoteTime(Date.parse(since) - overlapMs));
      const conditions = at === undefined ? [] : [where('sys_updated_on', '>=', at)];
      // of the rows with the same time only those after the last: an OR binds to the condition before it
      if (cursor.at !== undefined)
        conditions.push(`${where('sys_updated_on', '>', cursor.at)}^OR${where('sys_id', '>', cursor.id)}`);
      const query: Query = { table, filter, conditions, order: ['sys_updated_on', 'sys_id'] };
      return page(request, query, cursor, true, ({ id, updatedAt }) => ({ id, at: toRemoteTime(updatedAt) }));
    },

    readByIds: (table, ids, fields) => lookUpRows(list, table, ids, fields),

    async findHiddenColumns(table, fields) {
      const hidden: string[] = [];
      for (const field of fields) {
        const query: Query = { table, conditions: [where(field, 'ISNOTEMPTY')] };
        const { result, total = 0 } = await list(query, [field], { limit: SAMPLE, counted: true });
        const rows = recordsOf(table, result, [field]);
        const isEmptied = rows.some(({ fields: shown }) => (shown[field]?.value ?? '') === '');
        // no visible row has a value: whether the column is readable is unknown
        const isUnknown = rows.length === 0 && total > 0;
        if (isEmptied || isUnknown) hidden.push(field);
      }
      return hidden;
    },
  };
}

/** The path of a table's records in the Table API; of one of them if its key is given. */
export const pathOf = (table: string, id?: string): string =>
  `/api/now/v2/table/${encodeURIComponent(table)}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** A time as the remote writes it: `2026-01-31 23:59:59` in UTC. */
export const toRemoteTime = (time: string | number): string =>
  new Date(time).toISOString().slice(0, 19).replace('T', ' ');

/** A time of the remote as RFC 3339; undefined for any other text. */
export function fromRemoteTime(text: string): string | undefined {
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`);
  return text === '' || Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

const escaped = (value: string): string => value.replaceAll('^', '^^');

/** One condition, with a caret in its value escaped. */
export const where = (field: string, operator: string, value = ''): string =>
  `${field}${operator}${escaped(value)}`;

const orderPart = /^(ORDERBY|ORDERBYDESC|GROUPBY|TRENDBY)[a-z]|^EQ$/;

/** The groups of a filter (joined by ^NQ), without the parts that order or group rows. */
function filterGroups(filter: string): string[] {
  const parts = filter.trim() === '' ? [] : splitCarets(filter.trim());
  const groups: string[][] = [[]];
  for (const part of parts) {
    if (part === '' || orderPart.test(part)) continue;
    if (part.startsWith('NQ')) groups.push([]);
    const rest = part.startsWith('NQ') ? part.slice(2) : part;
    if (rest !== '' && !orderPart.test(rest)) groups.at(-1)!.push(rest);
  }
  return groups.map((group) => group.join('^'));
}

/** Splits at carets that are not doubled. */
function splitCarets(text: string): string[] {
  return text
    .replaceAll('^^', '\u0000')
    .split('^')
    .map((part) => part.replaceAll('\u0000', '^^'));
}

/** The query for rows that match the filter and the conditions, ordered by these columns. The conditions apply to each group. */
function encodedQuery(filter: string | undefined, conditions: string[], order: string[]): string {
  const groups = filterGroups(filter ?? '').map((group) =>
    [group, ...conditions].filter((part) => part !== '').join('^'),
  );
  return [groups.join('^NQ'), ...order.map((field) => `ORDERBY${field}`)]
    .filter((part) => part !== '')
    .join('^');
}

const conditionForm = /^(?:OR)?([a-z0-9_]+(?:\.[a-z0-9_]+)*)(?=[A-Z!=<>])/;

/** The columns that a filter names. */
export function namesInFilter(filter: string): string[] {
  const names = filterGroups(filter)
    .flatMap((group) => splitCarets(group))
    .map((part) => conditionForm.exec(part)?.[1])
    .filter((name) => name !== undefined);
  return [...new Set(names)];
}

/** Columns that every record is read with. */
export const systemColumns = ['sys_id', 'sys_updated_on', 'sys_class_name'];
/** The column that counts the changes of a record, used as its version. */
export const CHANGES = 'sys_mod_count';

/** The value of a column as text, empty if it has none. */
export const textOf = ({ fields }: Pick<RemoteRecord, 'fields'>, name: string): string =>
  String(fields[name]?.value ?? '');

/** The stored value of a column; a reference may be an object with its value. */
const storedValue = (cell: unknown): Value =>
  (typeof cell === 'object' && cell !== null ? (cell as { value?: Value }).value : (cell as Value)) ?? '';

/** A row as a record; undefined if it is not a row of a table. */
export function recordOf(table: string, row: unknown, fields: string[]): RemoteRecord | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const cells = row as Record<string, unknown>;
  const id = storedValue(cells.sys_id);
  const updatedAt = fromRemoteTime(String(storedValue(cells.sys_updated_on)));
  if (typeof id !== 'string' || id === '') return undefined;
  const values: Record<string, RemoteField> = {};
  // a missing column is unknown, not empty
  for (const name of fields)
    if (cells[name] !== undefined) values[name] = { value: storedValue(cells[name]) };
  const version = String(storedValue(cells[CHANGES]));
  return {
    table,
    id,
    fields: values,
    updatedAt: updatedAt ?? new Date(0).toISOString(),
    ...(version === '' ? {} : { version }),
  };
}

/** The rows of a response as records, each id once; a later row replaces an earlier one. */
export function recordsOf(table: string, rows: unknown, fields: string[]): RemoteRecord[] {
  const records = new Map<string, RemoteRecord>();
  for (const row of Array.isArray(rows) ? rows : []) {
    const record = recordOf(table, row, fields);
    if (record) records.set(record.id, record);
  }
  return [...records.values()];
}
