/** The statuses of a transfer. */
export const transferStatuses = ['parsing', 'previewed', 'applying', 'applied', 'failed'] as const;
export type TransferStatus = (typeof transferStatuses)[number];

/** What an import does with a row. */
export type RowAction = 'create' | 'update' | 'unchanged' | 'conflict';

/** Why a row is skipped. */
export interface Reason {
  code: string;
  message: string;
  /** The invalid column, if it is one. */
  field?: string | null;
}

/** A skipped row in a report. */
export interface SkippedRow extends Reason {
  kind: string;
  key: string;
  /** The number of the part of the archive that contains the kind, from 1. */
  line: number;
  field: string | null;
}

/** Rows of a kind by action. */
export type KindCounts = Record<RowAction, number>;

/** What an archive would change. */
export interface TransferDiff {
  kinds: Record<string, KindCounts>;
  totals: KindCounts;
  /** The first of the rows that would be skipped. */
  conflicts: SkippedRow[];
  /** From the manifest of the archive. */
  source: { service_version: string; schema_version: string; position: string; created_at: string };
  include_archived: boolean;
}

/** Maximum skipped rows in a diff or a result. */
export const MAX_NAMED = 1_000;
