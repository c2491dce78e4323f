import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';

export const mediaTypes: Record<ExportRequest['format'], string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** The name under which an export of that moment is downloaded. */
export function exportName(request: Pick<ExportRequest, 'kind' | 'format'>, moment: Date): string {
  return `estate-${request.kind}-${moment.toISOString().slice(0, 10)}.${request.format}`;
}
