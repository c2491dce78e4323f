import type { FieldError } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';

/** What became of a row; `skipped` where another row of an atomic import has failed. */
export type Outcome = 'created' | 'updated' | 'unchanged' | 'failed' | 'skipped';

/** What became of a row of the file. */
export interface RowOutcome {
  line: number;
  outcome: Outcome;
  errors: FieldError[] | null;
}

/** What carrying out a batch works with. */
export interface Applying {
  work: Work;
  ctx: Ctx;
  jobId: string;
  /** Earlier batches were rolled back, so that the inventory does not show what they did. */
  dryRun: boolean;
  /** Faults that an earlier attempt at the batch has met, by line. */
  known: ReadonlyMap<number, FieldError>;
  /** Whether an earlier attempt has met a unique index: look which rows it was. */
  searchTaken: boolean;
}

/** Others have changed the inventory since the plan was made: the batch is tried again without these rows. */
export class BatchConflict extends Error {
  readonly faults: ReadonlyMap<number, FieldError>;
  constructor(faults: ReadonlyMap<number, FieldError>) {
    super('rows of the batch no longer fit the inventory');
    this.name = 'BatchConflict';
    this.faults = faults;
  }
}

/** How far an import has come; stored with what it has written. */
export type ImportProgress =
  | { stage: 'read'; line: number }
  | { stage: 'plan' }
  | { stage: 'apply'; batch: number; batches: number }
  | { stage: 'report' };

/** About which part of the time each stage takes. */
export const shares = { read: 0.25, plan: 0.1, apply: 0.63 } as const;
