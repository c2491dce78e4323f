/** A staging table and the map that transforms its rows at once. */
export interface ImportSet {
  target: string;
  map: string;
  /** Columns of the target by which a row is found again; none inserts always. */
  coalesce: string[];
  /** Columns without which the map's script ends a row with an error. */
  mandatory?: string[];
  /** Values of `name` that the map's script passes over. */
  ignores?: string[];
  /** Column of the target by column of the staging table; the same name unless given. */
  fields?: Record<string, string>;
}
