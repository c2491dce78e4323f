import { done, failed, type Result } from '../../remote.failures.ts';
import type { DeltaRequest, Page, ReadRequest, RemoteLook } from '../connector.ts';
import type { Answered, Transport } from '../transport.ts';
import { encodedQuery, fromRemoteTime, toRemoteTime, where } from './query.ts';
import { CHANGES, recordsOf, systemColumns } from './records.ts';

/** How much before the watermark a reading of changes begins: the time of an update is set before it is visible. */
const OVERLAP_MS = 60_000;
/** Ids of one direct look, for the length of an address. */
const LOOKS = 100;
/** Records of a look that are looked at one by one where some are kept back. */
const SINGLE_LOOKS = 25;
/** How often a page is read in which rows stand in place of others. */
const TRIES = 3;
/** Rows by which it is told whether a column is shown: some of them may be kept back themselves. */
const SAMPLE = 20;

/** Where a reading goes on; its text is nobody else's business. */
interface Cursor {
  id: string;
  /** Of the last row read, when the order is that of change. */
  at?: string;
  /** Rows beyond it that the account may not see, all of them up to here. */
  hidden?: number;
  /** Pages are counted: some were short. */
  counted?: boolean;
}

const readCursor = (text: string | null): Cursor =>
  text === null ? { id: '' } : (JSON.parse(text) as Cursor);
const writeCursor = (cursor: Cursor): string => JSON.stringify(cursor);

/** Whether a reading that goes on from one place gets anywhere new. */
const isBeyond = (to: Cursor, from: Cursor): boolean =>
  to.at !== undefined && to.at !== from.at ? to.at > (from.at ?? '') : to.id > from.id;

interface Stretch {
  table: string;
  conditions: string[];
  order: string[];
  filter: string | undefined;
}

export interface Reading {
  /** @param counted pages are counted from the first on: short ones are expected, and a count of its own is spared. */
  readPage(request: ReadRequest, counted?: boolean): Promise<Result<Page>>;
  readSince(request: DeltaRequest): Promise<Result<Page>>;
  readByIds(table: string, ids: string[], fields: string[]): Promise<Result<Map<string, RemoteLook>>>;
  newestChange(table: string, filter?: string): Promise<Result<string | null>>;
  withheldFields(table: string, fields: string[]): Promise<Result<string[]>>;
  /** How many rows fit, those kept back included, and the first of them that is seen. */
  count(stretch: Stretch, offset?: number): Promise<Result<{ total: number | undefined; rows: unknown[] }>>;
}

export function createReading(transport: Transport): Reading {
  const list = (
    stretch: Stretch,
    fields: string[],
    more: { limit: number; offset?: number; counted: boolean; display?: boolean },
  ): Promise<Result<Answered>> =>
    transport.send({
      method: 'GET',
      path: `/api/now/v2/table/${encodeURIComponent(stretch.table)}`,
      doing: `Reading ${stretch.table}`,
      pageSize: more.limit,
      query: (pageSize) => ({
        sysparm_query: encodedQuery(stretch.filter, stretch.conditions, stretch.order),
        sysparm_fields: [...new Set([...systemColumns, ...fields])].join(','),
        sysparm_limit: String(pageSize),
        ...(more.offset ? { sysparm_offset: String(more.offset) } : {}),
        sysparm_display_value: more.display === false ? 'false' : 'all',
        sysparm_exclude_reference_link: 'true',
        ...(more.counted ? {} : { sysparm_no_count: 'true' }),
      }),
    });

  const count: Reading['count'] = async (stretch, offset = 0) => {
    const answer = await list(stretch, [], { limit: 1, offset, counted: true, display: false });
    if (!answer.ok) return answer;
    const { total, result } = answer.value;
    return done({ total, rows: Array.isArray(result) ? result : [] });
  };

  /** One page of a stretch that lies beyond the cursor. */
  const page = async (
    request: ReadRequest,
    stretch: Stretch,
    cursor: Cursor,
    counted: boolean,
    step: (record: { id: string; updatedAt: string }) => Cursor,
    tries = TRIES,
  ): Promise<Result<Page>> => {
    const { hidden = 0 } = cursor;
    const answer = await list(stretch, request.fields, {
      limit: request.limit,
      offset: hidden,
      counted,
      ...(request.display === undefined ? {} : { display: request.display }),
    });
    if (!answer.ok) return answer;
    const { pageSize, result } = answer.value;
    const records = recordsOf(stretch.table, result, request.fields);
    // a row that comes twice may stand where another one is kept back
    const shown = records.length;
    const last = records.at(-1);
    if (last && !isBeyond(step(last), cursor)) {
      const what = `Reading ${stretch.table} does not get on: its order is not heeded, or sys_updated_on is hidden`;
      return failed('paging_ignored', `table ${stretch.table}`, what);
    }
    const onward = (more: Partial<Cursor>): string =>
      writeCursor({ ...(last ? step(last) : cursor), hidden: undefined, ...more });
    if (shown >= pageSize)
      return done({ records, next: onward(cursor.counted ? { counted: true } : {}), withheld: false });
    // a short page is the last one, or rows of it are kept back
    let { total } = answer.value;
    if (!counted) {
      const counting = await count(stretch);
      if (!counting.ok) return counting;
      total = counting.value.total;
    }
    if (total === undefined) return done({ records, next: last ? onward({}) : null, withheld: false });
    const withheld = total - hidden > shown;
    // rows that come twice stand where others belong: these are not kept back, and the next page begins behind them
    const repeated = withheld && Array.isArray(result) && result.length > shown;
    if (repeated && tries > 1) return page(request, stretch, cursor, true, step, tries - 1);
    const lacks = { withheld, ...(repeated && { repeated }) };
    if (total <= hidden + pageSize) return done({ records, next: null, ...lacks });
    const next = last
      ? onward({ counted: true })
      : writeCursor({ ...cursor, hidden: hidden + pageSize, counted: true });
    return done({ records, next, ...lacks });
  };

  return {
    count,
    readPage(request, counted = false) {
      const cursor = readCursor(request.cursor);
      const stretch: Stretch = {
        table: request.table,
        filter: request.filter,
        conditions: cursor.id === '' ? [] : [where('sys_id', '>', cursor.id)],
        order: ['sys_id'],
      };
      return page(request, stretch, cursor, counted || cursor.counted === true, ({ id }) => ({ id }));
    },

    readSince(request) {
      const cursor = readCursor(request.cursor);
      const from =
        request.since === null
          ? undefined
          : toRemoteTime(Date.parse(request.since) - (request.overlapMs ?? OVERLAP_MS));
      const at = cursor.at ?? from;
      const stretch: Stretch = {
        table: request.table,
        filter: request.filter,
        conditions: [
          ...(at === undefined ? [] : [where('sys_updated_on', '>=', at)]),
          // of those with the very same time, the ones beyond the last: an OR binds to the condition before it
          ...(cursor.at === undefined
            ? []
            : [`${where('sys_updated_on', '>', cursor.at)}^OR${where('sys_id', '>', cursor.id)}`]),
        ],
        order: ['sys_updated_on', 'sys_id'],
      };
      return page(request, stretch, cursor, true, ({ id, updatedAt }) => ({
        id,
        at: toRemoteTime(updatedAt),
      }));
    },

    async readByIds(table, ids, fields) {
      const looks = new Map<string, RemoteLook>();
      const look = async (some: string[]): Promise<Result<null>> => {
        const stretch: Stretch = {
          table,
          filter: undefined,
          conditions: [where('sys_id', 'IN', some.join(','))],
          order: [],
        };
        const answer = await list(stretch, [CHANGES, ...fields], { limit: some.length, counted: true });
        if (!answer.ok) return answer;
        const { total, result, pageSize } = answer.value;
        for (const record of recordsOf(table, result, fields))
          looks.set(record.id, { kind: 'there', record });
        const missing = some.filter((id) => !looks.has(id));
        if (missing.length === 0) return done(null);
        const found = some.length - missing.length;
        // all that the query finds is seen: what is missing is not there
        const certain = total !== undefined && total <= found && pageSize >= some.length;
        if (!certain && some.length > 1) {
          for (const id of missing.slice(0, SINGLE_LOOKS)) {
            const single = await look([id]);
            if (!single.ok) return single;
          }
        }
        for (const id of missing) if (!looks.has(id)) looks.set(id, { kind: certain ? 'gone' : 'unknown' });
        return done(null);
      };
      const wanted = [...new Set(ids)];
      for (let from = 0; from < wanted.length; from += LOOKS) {
        const looked = await look(wanted.slice(from, from + LOOKS));
        if (!looked.ok) return looked;
      }
      return done(looks);
    },

    async newestChange(table, filter) {
      const answer = await transport.send({
        method: 'GET',
        path: `/api/now/v2/table/${encodeURIComponent(table)}`,
        doing: `Asking when ${table} last changed`,
        query: () => ({
          sysparm_query: [encodedQuery(filter, [], []), 'ORDERBYDESCsys_updated_on']
            .filter((part) => part !== '')
            .join('^'),
          sysparm_fields: 'sys_updated_on',
          sysparm_limit: '1',
          sysparm_no_count: 'true',
        }),
      });
      if (!answer.ok) return answer;
      const [row] = Array.isArray(answer.value.result)
        ? (answer.value.result as { sys_updated_on?: string }[])
        : [];
      return done(fromRemoteTime(row?.sys_updated_on ?? '') ?? null);
    },

    async withheldFields(table, fields) {
      const withheld: string[] = [];
      for (const field of fields) {
        const stretch: Stretch = {
          table,
          filter: undefined,
          conditions: [where(field, 'ISNOTEMPTY')],
          order: [],
        };
        const answer = await list(stretch, [field], { limit: SAMPLE, counted: true, display: false });
        if (!answer.ok) return answer;
        const rows = recordsOf(table, answer.value.result, [field]);
        const isEmptied = rows.some(({ fields: shown }) => (shown[field]?.value ?? '') === '');
        // none of the rows that are filled is shown: whether the column would be is not known
        const isOpen = rows.length === 0 && (answer.value.total ?? 0) > 0;
        if (isEmptied || isOpen) withheld.push(field);
      }
      return done(withheld);
    },
  };
}
