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
import type { ReportQuestion } from './report.question.ts';
import type { StreamedReport, StreamedTable, StreamInput } from './report.ts';

export type StreamFormat = 'json' | 'csv' | 'xlsx';

const BATCH = 1_000;

function tableOf(snapshot: Snapshot, { name, columns, cells, before, from }: StreamedTable): Table {
  const list = cells.map((cell, n) => (columns[n]!.type === 'key' ? `(${cell})::text` : cell));
  const text = `${before.sql} select ${list.join(', ')} ${from}`;
  return { name, columns, batches: snapshot.batches(text, before.bindings, BATCH) as Table['batches'] };
}

/**
 * Opens the answer of a report that is read piece by piece, from one snapshot; see {@link startStream}.
 * @param table which table CSV holds; the first without it.
 */
export async function openReportStream(
  db: Db,
  input: Omit<StreamInput<Record<string, unknown>>, 'snapshot' | 'position' | 'isHistorical'>,
  question: ReportQuestion,
  format: StreamFormat,
  table: string | undefined,
): Promise<{ out: Readable; position: string }> {
  const { report, asOf } = question;
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
    const scope = asOfScope(input.ctx, question);
    await readAsOf(
      db,
      asOf,
      async (sql) => await read(snapshotOn(await sql.client.acquireConnection())),
      scope,
    );
  });
}

/** @throws EstateError 422 naming the tables that there are. */
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
