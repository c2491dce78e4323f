import { type Db, inTransaction, sqlState } from '../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { bufferEvents } from '../../kernel/events/events.buffer.ts';
import type { JobCounts, JobStep, JobTransaction, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { applyCards, applyRelations } from './imports.cards.apply.ts';
import { countRows, storeOutcomes } from './imports.cards.stage.ts';
import { applyCosts } from './imports.costs.apply.ts';
import { applyFlowRows } from './imports.flows.apply.ts';
import type { ImportPayload } from './imports.job.ts';
import { countOutcomes } from './imports.report.ts';
import type { ImportKind } from './imports.row.ts';
import {
  type Applying,
  type ApplyProgress,
  BatchConflict,
  type ImportProgress,
  PlanOutdated,
  type RowOutcome,
  shares,
} from './imports.types.ts';

const MAX_ATTEMPTS = 10;
/** Attempts at an import in one transaction. */
const WHOLE_ATTEMPTS = 5;

const appliers = {
  cards: applyCards,
  relations: applyRelations,
  costs: applyCosts,
  data_flows: applyFlowRows,
};

/** Applies the rows of one batch of the plan. */
const applyBatch = (kind: ImportKind, applying: Applying, batch: number): Promise<RowOutcome[]> =>
  appliers[kind](applying, batch);

/** The transaction of a whole import. */
export interface WholeImport {
  work: Work;
  /** Whether an earlier attempt violated a unique index. */
  searchTaken: boolean;
  /** Moves events out of memory; called between batches. */
  flush(): Promise<void>;
}

/**
 * Writes an import in one transaction with its events, again if a concurrent write has invalidated the plan or violated a
 * unique index.
 */
export async function writeAtOnce<T>(
  job: RunningJob,
  write: (whole: WholeImport) => Promise<T>,
  { dryRun = false } = {},
): Promise<T> {
  let searchTaken = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await commandWith(job.ctx, { dryRun }, async (work) => {
        await job.lock(work);
        const events = await bufferEvents(work, job.ctx);
        const result = await write({ work: events.work, searchTaken, flush: events.flush });
        if (!dryRun) await events.record();
        return result;
      });
    } catch (error) {
      if (attempt === WHOLE_ATTEMPTS || !(error instanceof BatchConflict || isClash(error))) throw error;
      searchTaken = true;
    }
  }
}

/** A plan that is applied in one transaction. */
interface WholePlan extends Pick<Applying, 'work' | 'ctx' | 'jobId' | 'searchTaken' | 'withChanges'> {
  kind: ImportKind;
  batches: number;
  signal: AbortSignal;
  /** Called after each batch with the number of batches that are applied. */
  applied(done: number): Promise<void>;
}

/** Applies all batches of a plan and stores the outcomes, in the caller's transaction. @returns the failed rows. */
export async function applyPlan(whole: WholePlan): Promise<RowOutcome[]> {
  const { kind, batches, signal, applied, ...plan } = whole;
  const failed: RowOutcome[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    signal.throwIfAborted();
    const outcomes = await applyBatch(kind, { ...plan, dryRun: false, known: new Map() }, batch);
    failed.push(...outcomes.filter(({ outcome }) => outcome === 'failed'));
    await storeOutcomes(plan.work.sql, plan.jobId, outcomes);
    await applied(batch + 1);
  }
  return failed;
}

/** Error codes of keys that a concurrent write has taken. */
const TAKEN = ['sibling_name_taken', 'external_id_taken', 'duplicate_relation'];

/** Whether a write violated a unique index because of a concurrent write. */
const isClash = (error: unknown): boolean =>
  error instanceof EstateError ? TAKEN.includes(error.code) : sqlState(error) === '23505';

/**
 * Applies the plan batch by batch, each in a separate transaction together with its outcomes and the checkpoint. A dry
 * run rolls each back and stores the outcomes afterwards.
 * @param mayReplan whether a batch throws PlanOutdated instead of failing rows whose keys were taken.
 */
export async function applyBatches(
  job: RunningJob<ImportPayload>,
  { db }: Services,
  from: ApplyProgress,
  mayReplan: boolean,
): Promise<void> {
  const { ctx, payload, signal, id: jobId } = job;
  const counts = { ...(await countOutcomes(db, jobId)), total: await countRows(db, jobId, payload.kind) };
  for (let batch = from.batch; batch < from.batches; batch += 1) {
    signal.throwIfAborted();
    const planned = {
      ...{ ctx, db, kind: payload.kind, jobId, batch, mayReplan, dryRun: payload.dry_run },
      withChanges: payload.report === 'changes',
    };
    const after = (rows: RowOutcome[]) => stepAfter(counts, rows, batch + 1, from.batches);
    const outcomes = await attemptBatch(planned, (work, rows) => job.checkpoint(work, after(rows)));
    Object.assign(counts, after(outcomes).counts);
  }
}

/** A batch of the plan of one kind of rows. */
interface PlannedBatch {
  ctx: Ctx;
  db: Db;
  kind: ImportKind;
  /** The id under which the plan is stored. */
  jobId: string;
  batch: number;
  dryRun: boolean;
  withChanges?: boolean;
  /** Whether to throw PlanOutdated if rows fail because concurrent writes took their keys. */
  mayReplan?: boolean;
}

/**
 * Retries a batch until no concurrent write conflicts with it, without the rows that conflict.
 * @param store stores the outcomes of the rows in the transaction of the batch; of a dry run, in a transaction after it.
 */
export async function attemptBatch(
  { ctx, db, kind, jobId, batch, dryRun, withChanges = false, mayReplan = false }: PlannedBatch,
  store: (work: JobTransaction, outcomes: RowOutcome[]) => Promise<void>,
): Promise<RowOutcome[]> {
  const keep = async (work: JobTransaction, outcomes: RowOutcome[]) => {
    await storeOutcomes(work.sql, jobId, outcomes);
    await store(work, outcomes);
  };
  let known: ReadonlyMap<number, FieldError> = new Map();
  let searchTaken = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const outcomes = await commandWith(ctx, { dryRun }, async (work) => {
        const applying = { work, ctx, jobId, dryRun, known, searchTaken, withChanges };
        const outcomes = await applyBatch(kind, applying, batch);
        if (mayReplan && outcomes.some(isTaken)) throw new PlanOutdated(batch);
        if (!dryRun) await keep(work, outcomes);
        return outcomes;
      });
      if (dryRun) await inTransaction(db, (sql) => keep({ sql }, outcomes));
      return outcomes;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      if (error instanceof BatchConflict) known = error.errors;
      else if (isClash(error)) searchTaken = true;
      else throw error;
    }
  }
}

/** Whether the row failed because a concurrent write took its key. */
export const isTaken = ({ errors }: RowOutcome): boolean =>
  errors?.some(({ code }) => TAKEN.includes(code)) ?? false;

/** The data stored with a batch. */
function stepAfter(before: JobCounts, outcomes: RowOutcome[], done: number, batches: number): JobStep {
  const counts = { ...before };
  for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const rows = counts.created! + counts.updated! + counts.unchanged! + counts.failed!;
  return {
    progress: shares.read + shares.plan + (done / batches) * shares.apply,
    message: `${rows} of ${counts.total} rows`,
    counts,
    checkpoint: { stage: 'apply', batch: done, batches } satisfies ImportProgress,
  };
}
