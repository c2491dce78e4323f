import type { Writable } from 'node:stream';
import type { ExportRequest } from '../../domain/jobs/kinds/export.ts';
import type { OnRows, Table } from './extraction.types.ts';
import { writeCsv } from './writers/csv.ts';
import { writeNdjson } from './writers/ndjson.ts';
import { writeXlsx } from './writers/xlsx.ts';

export const mediaTypes: Record<ExportRequest['format'], string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** The name under which an export of that moment is downloaded. */
export function exportName(request: Pick<ExportRequest, 'kind' | 'format'>, moment: Date): string {
  return `estate-${request.kind}-${moment.toISOString().slice(0, 10)}.${request.format}`;
}

/** Writes tables in a format; all but xlsx take one table. Ends the stream. */
export async function writeTables(
  format: ExportRequest['format'],
  tables: Table[],
  out: Writable,
  options: { neutralise: boolean; signal?: AbortSignal; onRows?: OnRows },
): Promise<void> {
  if (format === 'xlsx') await writeXlsx(tables, out, options);
  else if (format === 'csv') await writeCsv(tables[0]!, out, options);
  else await writeNdjson(tables[0]!, out, options);
}
