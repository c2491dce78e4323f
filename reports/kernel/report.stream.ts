import type { Readable, Writable } from 'node:stream';
import type { Db } from '../../platform/database.ts';
import { type Snapshot, snapshotOn, withSnapshot } from '../../platform/snapshot.ts';
import { snapshotPosition } from '../exchange/extraction/extraction.plan.ts';
import { readAsOf } from './as-of/as-of.ts';
import type { Table } from './formats/formats.types.ts';
import { writeCsv } from './formats/lines.ts';
import { pump, startStream } from './formats/pump.ts';
import { writeXlsx } from './formats/xlsx.ts';
import { asOfScope } from './report.as-of.ts';
import { tableNamed } from './report.formats.ts';
import type { ReportRequest } from './report.request.ts';
import type { StreamedReport, StreamedTable, StreamInput } from './report.ts';

export type StreamFormat = 'json' | 'csv' | 'xlsx';

const BATCH = 1_000;

function tableOf(snapshot: Snapshot, { name, columns, cells, before, from }: StreamedTable): Table {
  const list = cells.map((cell, n) => (columns[n]!.type === 'key' ? `(${cell})::text` : cell));
  const text = `${before.sql} select ${list.join(', ')} ${from}`;
  return { name, columns, batches: snapshot.batches(text, before.bindings, BATCH) as Table['batches'] };
}

/**
 * Starts to stream a report from one snapshot; see {@link startStream}.
 * @param table the table for CSV; by default the first.
 */
export async function openReportStream(
  db: Db,
  input: Omit<StreamInput<Record<string, unknown>>, 'snapshot' | 'position' | 'isHistorical'>,
  request: ReportRequest,
  format: StreamFormat,
  table: string | undefined,
): Promise<{ out: Readable; position: string }> {
  const { report, asOf } = request;
  return await startStream(input.ctx.caller, async (out, start) => {
    const read = async (snapshot: Snapshot) => {
      await snapshot.query(`set local work_mem = '64MB'`);
      await snapshot.query('set local jit = off');
      const position = await snapshotPosition(snapshot);
      const answer = report.stream!.open({ ...input, snapshot, position, isHistorical: asOf !== undefined });
      const write = writerOf(snapshot, answer, format, table);
      start({ position, out });
      await write(out);
    };
    if (!asOf) return await withSnapshot(db, read);
    const scope = asOfScope(input.ctx, request);
    await readAsOf(
      db,
      asOf,
      async (sql) => await read(snapshotOn(await sql.client.acquireConnection())),
      scope,
    );
  });
}

/** @throws EstateError 422 naming the available tables. */
function writerOf(
  snapshot: Snapshot,
  answer: StreamedReport,
  format: StreamFormat,
  table: string | undefined,
): (out: Writable) => Promise<void> {
  if (format === 'json') return async (out) => await pump(answer.json, out, undefined);
  if (format === 'csv') {
    const chosen = tableNamed(answer.tables, table);
    return async (out) => await writeCsv(tableOf(snapshot, chosen), out, {});
  }
  return async (out) => {
    await writeXlsx(
      answer.tables.map((one) => tableOf(snapshot, one)),
      out,
      {},
    );
  };
}
