import type { Readable } from 'node:stream';
import type { Ctx } from '../../domain/kernel/context.ts';
import { snapshotPosition } from '../../domain/kernel/events/changes.ts';
import type { Db } from '../../platform/database.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { startStream, writeChunks } from './formats/chunk-streams.ts';
import type { Table } from './formats/formats.types.ts';
import { asOfScope, withReportSnapshot } from './report.as-of.ts';
import { statementTable, type TableFormat, tablesOf, writeTables } from './report.formats.ts';
import type { ReportRequest, StreamedTable } from './report.ts';

function tableOf(snapshot: Snapshot, table: StreamedTable): Table {
  const { columns, cells, before, from } = table;
  const list = cells.map((cell, n) => (columns[n]!.type === 'key' ? `(${cell})::text` : cell));
  const sql = `${before.sql} select ${list.join(', ')} ${from}`;
  return statementTable(snapshot, table, { sql, bindings: before.bindings });
}

/**
 * Starts to stream a report from one snapshot; see {@link startStream}.
 * @param table the table for CSV; by default the first.
 */
export async function openReportStream(
  db: Db,
  ctx: Ctx,
  request: ReportRequest,
  format: 'json' | TableFormat,
  table: string | undefined,
): Promise<{ out: Readable; position: string }> {
  const { report, params, cards, visible, asOf } = request;
  const scope = asOfScope(ctx, request);
  return await startStream(ctx.caller, (out, start) =>
    withReportSnapshot(db, asOf, scope, async (snapshot) => {
      const position = await snapshotPosition(snapshot);
      const streamed = report.stream!.open({
        ctx,
        params,
        cards,
        visible,
        snapshot,
        position,
        isHistorical: asOf !== undefined,
      });
      // refused before the response starts
      const chosen = format === 'json' ? [] : tablesOf(format, streamed.tables, table);
      start({ position, out });
      if (format === 'json') return await writeChunks(streamed.json, out, undefined);
      const tables = chosen.map((one) => tableOf(snapshot, one));
      await writeTables(format, tables, out);
    }),
  );
}
