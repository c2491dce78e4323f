/** What a column holds; says how writers put it into cells. A key is a text that never needs
 * quoting or guarding. */
export type ColumnType = 'text' | 'key' | 'number' | 'boolean' | 'date' | 'datetime' | 'multi';

export interface Column {
  /** The name in the header, such as `attributes.timeModel`. */
  header: string;
  type: ColumnType;
  /** Whether its numbers are money, in the workspace's currency. */
  money?: true;
}

/** A value of a row; the type is the column's. Several values are an array of texts. */
export type Cell = string | number | boolean | readonly string[] | null | undefined;

/** Some rows, to be gone through once; a row's cells stand only until the next row is asked for. */
export type Batch = Iterable<readonly Cell[]> & { readonly length: number };

/** One table of an extraction, read once, in batches. */
export interface Table {
  /** Name of the sheet or file. */
  name: string;
  columns: Column[];
  /** About how many rows there are, for progress. */
  expected: number;
  batches: AsyncIterable<Batch>;
}

/** Told after each batch with the number of rows written since, and of which table. */
export type OnRows = (rows: number, table: string) => void;
