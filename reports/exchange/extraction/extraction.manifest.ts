import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { StoredFile } from '../../../domain/kernel/files/files.store.ts';
import type { Column, ColumnType } from '../../kernel/formats/formats.types.ts';

/** The types of columns in manifests. */
const typeNames: Record<ColumnType, string> = {
  text: 'string',
  key: 'string',
  number: 'double',
  boolean: 'boolean',
  date: 'date',
  datetime: 'timestamp',
  multi: 'list<string>',
  json: 'string',
};

/** Describes a file of an extraction to programs that load it. */
export interface Manifest extends Omit<ExportRequest, 'after'> {
  /** The position after which changes were extracted; null for a full extraction. */
  after: string | null;
  /** The feed position that the rows include, for `after` of the next extraction. */
  position: string;
  /** RFC 3339: time of the snapshot. */
  taken_at: string;
  tables: { name: string; rows: number; columns: { name: string; type: string }[] }[];
  file: { name: string; size: number; sha256: string };
}

/** An extraction whose rows are written. */
export interface Written {
  request: ExportRequest;
  position: string;
  takenAt: Date;
  tables: { name: string; rows: number; columns: Column[] }[];
}

/** The manifest of a stored extraction. */
export function manifestOf(
  { request, position, takenAt, tables }: Written,
  file: Pick<StoredFile, 'name' | 'size' | 'sha256'>,
): Manifest {
  return {
    ...request,
    after: request.after ?? null,
    position,
    taken_at: takenAt.toISOString(),
    tables: tables.map(({ name, rows, columns }) => ({
      name,
      rows,
      columns: columns.map(({ header, type }) => ({ name: header, type: typeNames[type] })),
    })),
    file: { name: file.name, size: file.size, sha256: file.sha256 },
  };
}

export const mediaTypes: Record<ExportRequest['format'], string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** The name of an export's file. */
export function exportName(request: Pick<ExportRequest, 'kind' | 'format'>, at: Date): string {
  return `estate-${request.kind}-${at.toISOString().slice(0, 10)}.${request.format}`;
}
