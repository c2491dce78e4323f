/** Columns of a sheet, at most. */
export const MAX_COLUMNS = 2_000;
/** Characters of a cell, at most. */
export const MAX_CELL = 100_000;
/** Rows of a file, in all its sheets. */
export const MAX_ROWS = 500_000;

/** Some rows of a sheet. Empty ones are left out. */
export interface SheetRows {
  sheet: string;
  rows: {
    /** As the sheet counts them, from 1. */
    row: number;
    /** From the first column on; an empty text where nothing stands. */
    cells: string[];
  }[];
}

/** A column of a block, with what its cells look like. */
export interface SourceColumn {
  /** As its head says. */
  key: string;
  /** What a second head says, where the file has one. */
  label: string | null;
  /** Cells that are not empty. */
  values: number;
  data_type: 'text' | 'number' | 'boolean' | 'date';
}

/**
 * What the rows of a sheet are as far as its name and its head tell: `about` is what tells of the other tool, such as its
 * own catalogue of tags.
 */
export type RowKind = 'card' | 'relation' | 'document' | 'comment' | 'subscription' | 'about';

/** Rows of one native type: of one kind of thing, whichever sheets they stand in. */
export interface SourceBlock {
  native_type: string;
  rows: number;
  columns: SourceColumn[];
  /** Absent: cards. */
  kind?: RowKind;
  /** Of relations: the native types at their ends, where all rows tell the same. */
  ends?: RelationEnds | null;
}

/** The native types that relations join. */
export interface RelationEnds {
  source: string;
  target: string;
}

/** A row of the file as it is kept. */
export interface SourceRow {
  line: number;
  sheet: string;
  row: number;
  native_type: string;
  /** By column; empty cells are left out. */
  cells: Record<string, string>;
}

/** The tools from which a migration can come. */
export const sourceTypes = ['leanix', 'sheet'] as const;
export type SourceType = (typeof sourceTypes)[number];

/** Blocks by native type, while rows are read. */
export type Gathered = Map<
  string,
  {
    rows: number;
    columns: Map<string, SourceColumn>;
    kind: RowKind;
    /** Undefined before the first row, null once two rows have told different ones. */
    ends?: RelationEnds | null;
  }
>;

/** What reading a file gathers besides its rows; complete once all of them are read. */
export interface SourceFacts {
  blocks: Gathered;
  /** What a sheet about the snapshot itself says of its version. */
  version: string | null;
}
