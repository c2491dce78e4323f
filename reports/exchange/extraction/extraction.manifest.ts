import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { StoredFile } from '../../../domain/kernel/files/files.store.ts';
import type { Column, ColumnType } from '../../kernel/formats/formats.types.ts';

/** The types of columns as a manifest names them. */
const typeNames: Record<ColumnType, string> = {
  text: 'string',
  key: 'string',
  number: 'double',
  boolean: 'boolean',
  date: 'date',
  datetime: 'timestamp',
  multi: 'list<string>',
};

/** What an extraction has written, for those who load it. */
export interface Manifest extends Omit<ExportRequest, 'after'> {
  /** The position that was gone on from; null for all there is. */
  after: string | null;
  /** The feed position that the rows include: where the next extraction goes on. */
  position: string;
  /** RFC 3339: when the moment was taken that all rows belong to. */
  taken_at: string;
  tables: { name: string; rows: number; columns: { name: string; type: string }[] }[];
  file: { name: string; size: number; sha256: string };
}

/** What is known of an extraction when its rows are written. */
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
