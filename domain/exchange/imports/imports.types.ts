import type { FieldError } from '../../../platform/errors.ts';
import type { Changes } from '../../inventory/cards/rules/diff.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { TagName } from '../../kernel/transfer/csv-cells.ts';

/** The outcome of a row; `skipped` if another row of an atomic import has failed. */
export type Outcome = 'created' | 'updated' | 'unchanged' | 'failed' | 'skipped';

/** The outcome of a row of the file. */
export interface RowOutcome {
  line: number;
  outcome: Outcome;
  errors: FieldError[] | null;
  /** The old and new value of each changed field, if the report contains them. */
  changes?: Changes;
  /** The tags that its batch has created with it: tags that others created meanwhile are not the import's. */
  created_tags?: TagName[];
}

/** The state of applying a batch. */
export interface Applying {
  work: Work;
  ctx: Ctx;
  jobId: string;
  /** Earlier batches were rolled back, so the inventory does not have their changes. */
  dryRun: boolean;
  /** Errors from earlier attempts at the batch, by line. */
  known: ReadonlyMap<number, FieldError>;
  /** Whether an earlier attempt violated a unique index: find the rows concerned. */
  searchTaken: boolean;
  /** Whether outcomes have their `changes`. */
  withChanges?: boolean;
}

/** Concurrent writes have changed the inventory since planning: the batch is retried without these rows. */
export class BatchConflict extends Error {
  readonly errors: ReadonlyMap<number, FieldError>;
  constructor(errors: ReadonlyMap<number, FieldError>) {
    super('rows of the batch no longer fit the inventory');
    this.name = 'BatchConflict';
    this.errors = errors;
  }
}

/** Concurrent writes took keys of the rows of an upsert: a new plan of the rows from this batch on updates what has them. */
export class PlanOutdated extends Error {
  readonly batch: number;
  constructor(batch: number) {
    super('rows of the batch exist meanwhile');
    this.name = 'PlanOutdated';
    this.batch = batch;
  }
}

/** The progress of an import, stored together with its writes. */
export type ImportProgress =
  | { stage: 'read'; line: number }
  /** Earlier batches than `batch` are written; version 0.1.0 stored none. */
  | { stage: 'plan'; batch?: number }
  | { stage: 'apply'; batch: number; batches: number }
  | { stage: 'report' };

/** The progress of an import whose plan is applied. */
export type ApplyProgress = Extract<ImportProgress, { stage: 'apply' }>;

/** The approximate share of the time of each stage. */
export const shares = { read: 0.25, plan: 0.1, apply: 0.63 } as const;
