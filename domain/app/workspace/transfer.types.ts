/** How a transfer stands. */
export const transferStatuses = ['parsing', 'previewed', 'applying', 'applied', 'failed'] as const;
export type TransferStatus = (typeof transferStatuses)[number];

/** What is to be done with a row. */
export type RowAction = 'create' | 'update' | 'unchanged' | 'conflict';

/** Why a row is left alone. */
export interface Reason {
  code: string;
  message: string;
  /** The column at fault, where it is one. */
  field?: string | null;
}

/** One row that is left alone, as reports name it. */
export interface LeftRow extends Reason {
  kind: string;
  key: string;
  /** Of the part of the archive that holds the kind, from 1. */
  line: number;
  field: string | null;
}

/** How many rows of a kind come to what. */
export type KindCounts = Record<RowAction, number>;

/** What an archive would change. */
export interface TransferDiff {
  kinds: Record<string, KindCounts>;
  totals: KindCounts;
  /** The first of the rows that would be left alone. */
  conflicts: LeftRow[];
  /** Of the archive, as its manifest tells. */
  source: { service_version: string; schema_version: string; position: string; created_at: string };
  include_archived: boolean;
}

/** How many rows that are left alone a diff or a result names. */
export const MAX_NAMED = 1_000;
