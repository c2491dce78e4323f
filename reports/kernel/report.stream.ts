import type { Readable } from 'node:stream';
import type { Ctx } from '../../domain/kernel/context.ts';
import { snapshotPosition } from '../../domain/kernel/events/changes.ts';
import type { Db } from '../../platform/database.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { startStream, writeChunks } from './formats/chunk-streams.ts';
import type { Column, Table } from './formats/formats.types.ts';
import { asOfScope, withReportSnapshot } from './report.as-of.ts';
import { statementTable, type TableFormat, tablesOf, writeTables } from './report.formats.ts';
import type { Report, ReportRequest, StreamedTable } from './report.ts';

function tableOf(snapshot: Snapshot, table: StreamedTable): Table {
  const { columns, cells, before, from } = table;
  const list = cells.map((cell, n) => (columns[n]!.type === 'key' ? `(${cell})::text` : cell));
  const sql = `${before.sql} select ${list.join(', ')} ${from}`;
  return statementTable(snapshot, table, { sql, bindings: before.bindings });
}

/** What a report streams from a snapshot. */
interface Streamed extends ReturnType<NonNullable<Report['stream']>['open']> {
  snapshot: Snapshot;
  position: string;
}

async function withStreamed<T>(
  db: Db,
  ctx: Ctx,
  request: ReportRequest,
  work: (streamed: Streamed) => Promise<T>,
): Promise<T> {
  const { report, params, cards, visible, asOf } = request;
  const scope = asOfScope(ctx, request);
  return await withReportSnapshot(db, asOf, scope, async (snapshot) => {
    const position = await snapshotPosition(snapshot);
    const isHistorical = asOf !== undefined;
    const input = { ctx, params, cards, visible, snapshot, position, isHistorical };
    return await work({ ...report.stream!.open(input), snapshot, position });
  });
}

/** Passes the main table of a streamed report to `use`, from one snapshot. @returns the feed position. */
export async function withStreamedTable(
  db: Db,
  ctx: Ctx,
  request: ReportRequest,
  use: (table: Table) => Promise<void>,
): Promise<string> {
  return await withStreamed(db, ctx, request, async ({ tables, snapshot, position }) => {
    await use(tableOf(snapshot, tables[0]!));
    return position;
  });
}

/**
 * Starts to stream a report from one snapshot; see {@link startStream}.
 * @param table the table for CSV; by default the first.
 * @param labelled returns the columns as a workbook has them.
 */
export async function openReportStream(
  db: Db,
  ctx: Ctx,
  request: ReportRequest,
  format: 'json' | TableFormat,
  table: string | undefined,
  labelled: (columns: Column[]) => Column[] = (columns) => columns,
): Promise<{ out: Readable; position: string }> {
  return await startStream(ctx.caller, (out, start) =>
    withStreamed(db, ctx, request, async ({ tables: all, json, snapshot, position }) => {
      // refused before the response starts
      const chosen = format === 'json' ? [] : tablesOf(format, all, table);
      start({ position, out });
      if (format === 'json') return await writeChunks(json, out, undefined);
      const tables = chosen.map((one) => tableOf(snapshot, one));
      await writeTables(
        format,
        tables.map((one) => ({ ...one, columns: labelled(one.columns) })),
        out,
      );
    }),
  );
}
