import type { CopiedLines } from '../../../platform/copy-out.ts';

/**
 * Type of a column's values. `key` is a text of ours, such as an id or a state; `multi` is a list of texts; `json` is the text of a
 * JSON object, which only NDJSON takes.
 */
export type ColumnType = 'text' | 'key' | 'number' | 'boolean' | 'date' | 'datetime' | 'multi' | 'json';

export interface Column {
  /** The name in the header, such as `attributes.timeModel`. */
  header: string;
  type: ColumnType;
  /** Its numbers are money in the workspace's currency. */
  money?: true;
}

/** A value of a row; several values are an array of texts. */
export type Cell = string | number | boolean | readonly string[] | null | undefined;

/** One table of a file, read once, in batches of rows. */
export interface Table {
  /** Name of the sheet or file. */
  name: string;
  columns: Column[];
  batches: AsyncIterable<(readonly Cell[])[]>;
}

/** A table as the database sends it: rows in the binary format of COPY, as `selectList` selects them. */
export interface BinaryTable {
  name: string;
  columns: Column[];
  /** Estimated number of rows, for progress. */
  expected: number;
  /** Reads the table, once. */
  chunks(): AsyncIterable<CopiedLines>;
}

export interface WriteOptions {
  signal?: AbortSignal | undefined;
  /** Called after each batch with the number of rows written since the last call, and their table. */
  onRows?: ((rows: number, table: string) => void) | undefined;
}
