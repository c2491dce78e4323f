/** A staging table and the map that transforms its rows at once. */
export interface ImportSet {
  target: string;
  map: string;
  /** Columns of the target by which a row is found again; none inserts always. */
  coalesce: string[];
  /** Column of the target by column of the staging table; the same name unless given. */
  fields?: Record<string, string>;
}
