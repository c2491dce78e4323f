/** Maximum rows of a file, in all its sheets. */
export const MAX_ROWS = 500_000;

/** A column of a block. */
export interface SourceColumn {
  /** The name in the first row. */
  key: string;
  /** The name in the second row of an exported table. */
  label: string | null;
  /** Cells that are not empty. */
  values: number;
  data_type: 'text' | 'number' | 'boolean' | 'date';
}

/** What the rows of a sheet are, by its name and columns; `about` describes the source workspace. */
export type RowKind = 'card' | 'relation' | 'document' | 'comment' | 'subscription' | 'about';

/** The rows of one native type, in any sheets. */
export interface SourceBlock {
  native_type: string;
  rows: number;
  columns: SourceColumn[];
  /** Absent: cards. */
  kind?: RowKind;
  /** Whether it is from a workbook that this service exports: then columns have the names of their keys. */
  own?: boolean;
  /** Of relations: the native types at their ends, if they are the same in all rows. */
  ends?: RelationEnds | null;
}

/** The native types that relations connect. */
export interface RelationEnds {
  source: string;
  target: string;
}

/** A row of the file as it is stored. */
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
export type BlocksByType = Map<
  string,
  {
    rows: number;
    columns: Map<string, SourceColumn>;
    kind: RowKind;
    own?: boolean;
    /** Undefined before the first row, null if rows differ. */
    ends?: RelationEnds | null;
  }
>;

/** The facts that are collected while a file is read; complete when all rows are read. */
export interface SourceFacts {
  blocks: BlocksByType;
  /** The version of the snapshot, from the sheet that describes it. */
  version: string | null;
}
