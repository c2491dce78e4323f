import type { Ctx } from '../../domain/kernel/context.ts';
import { feedEnds } from '../../domain/kernel/events/changes.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import type { Cache } from '../../platform/cache.ts';
import type { RowWriter } from '../../platform/copy-out.ts';
import { READER_IDLE_TIMEOUT, type Sql } from '../../platform/database.ts';
import { release } from '../../platform/release.ts';
import { readAsOf } from './as-of/as-of.ts';
import { asOfScope } from './report.as-of.ts';
import { ReportBody } from './report.body.ts';
import { readLines } from './report.lines.ts';
import { encodeRowCursor, type ReadRows, type RowRange, readRows, requireKeys } from './report.rows.ts';
import type { ReportRequest, ReportText } from './report.ts';

/** Maximum number of bytes of the last two members: the cursor and the position. */
const MAX_END = 8_192;

/** Makes parallel plans cheaper, since the planner underestimates the cost of building JSON. */
const PARALLEL = 'set local parallel_setup_cost = 100; set local parallel_tuple_cost = 0.001';

/** Computes a report from one snapshot, current or as of a time, and adds its feed position. */
export async function computeReport(ctx: Ctx, request: ReportRequest, cache: Cache): Promise<Buffer> {
  const { report, params, cards, visible, filtered, asOf, range, forPicture } = request;
  const onSnapshot = async (sql: Sql): Promise<Buffer> => {
    await sql.raw(`${PARALLEL}; ${READER_IDLE_TIMEOUT}`);
    const { newest } = await feedEnds(sql);
    let read: ReadRows | undefined;
    const parts: Buffer[] = [];
    const linesOf = async (query: Fragment, writer?: RowWriter) => {
      const lines = await readLines(sql, query, writer);
      parts.push(lines);
      return lines;
    };
    const text = await report.compute({
      sql,
      lines: linesOf,
      async rows(source) {
        requireKeys(range?.from, source.keys);
        read = await readRows(sql, linesOf, source, range);
        return read.lines;
      },
      range,
      ctx,
      params,
      cards,
      visible,
      filtered,
      asOf: asOf ?? new Date(),
      isHistorical: asOf !== undefined,
      forPicture: forPicture === true,
      cache,
    });
    const members = [...(read ? pageMembers(range, read) : []), `"position":"${newest}"`];
    const body = withEnd(text, members.join(','));
    release(...parts);
    return body;
  };
  if (asOf) return await readAsOf(ctx.db, asOf, onSnapshot, asOfScope(ctx, request));
  return await ctx.db.transaction(onSnapshot, { isolationLevel: 'repeatable read', readOnly: true });
}

/** The members about the rows of a paged report. */
function pageMembers(range: RowRange | undefined, { count, next }: ReadRows): string[] {
  const cursor = range && next && encodeRowCursor(range.bound, next);
  return [`"row_count":${count}`, `"next_cursor":${JSON.stringify(cursor ?? null)}`];
}

/** Adds members at the end of the text of an object. */
function withEnd(text: ReportText, members: string): Buffer {
  if (text instanceof ReportBody) {
    text.takeBack(1);
    text.text(`,${members}}`);
    return text.whole();
  }
  const pieces = typeof text === 'string' ? [text] : [...text];
  const last = pieces.pop() as string;
  pieces.push(`${last.slice(0, -1)},${members}}`);
  const buffers = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  const whole = Buffer.concat(buffers);
  release(...buffers);
  return whole;
}

/** Whether a result contains all rows of its report. */
export const isComplete = (body: Buffer): boolean =>
  !/"next_cursor":"[\w-]+","position":"\d+"\}$/.test(
    body.toString('latin1', Math.max(0, body.length - MAX_END)),
  );

/** The feed position of a result. */
export function positionOf(body: Buffer): string {
  return /"position":"(\d+)"\}$/.exec(body.toString('latin1', Math.max(0, body.length - 60)))![1]!;
}
