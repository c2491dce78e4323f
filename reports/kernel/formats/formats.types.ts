import type { CopiedLines } from '../../../platform/copy-out.ts';

/**
 * Type of a column's values. `key` is an id or an enumeration value; `multi` is a list of texts; `json` is the text of a JSON
 * object, for NDJSON only.
 */
export type ColumnType = 'text' | 'key' | 'number' | 'boolean' | 'date' | 'datetime' | 'multi' | 'json';

export interface Column {
  /** The name in the header, such as `attributes.timeModel`. */
  header: string;
  type: ColumnType;
  /** Whether its numbers are amounts in the workspace's currency. */
  money?: true;
}

/** A value of a row; several values are an array of texts. */
export type Cell = string | number | boolean | readonly string[] | null | undefined;

/** How a column of a workbook that people edit looks, and what may be written into it. */
export interface FormColumn {
  /** In the header, in place of the column's name. */
  title: string;
  /** What the header's note says. */
  note: string;
  /** Protected cells: those with values, or the whole column. */
  locked?: 'values' | 'all';
  /** What the drop-down list of its cells offers. */
  choices?: readonly (string | boolean)[];
  /** Texts by the values that they stand for. */
  texts?: ReadonlyMap<string, string>;
}

/** One table of a file, read once, in batches of rows. */
export interface Table {
  /** In a workbook: its columns as a form for editing, in their order. */
  form?: readonly FormColumn[] | undefined;
  /** Name of the sheet or file. */
  name: string;
  columns: Column[];
  batches: AsyncIterable<(readonly Cell[])[]>;
}

/** A table as the database sends it: rows of `selectList` in the binary format of COPY. */
export interface BinaryTable {
  form?: readonly FormColumn[] | undefined;
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
