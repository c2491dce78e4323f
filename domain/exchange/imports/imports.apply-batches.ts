import { inTransaction, sqlState } from '../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { JobCounts, JobStep, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { applyCards, applyRelations } from './imports.cards.apply.ts';
import { countRows, storeOutcomes } from './imports.cards.stage.ts';
import type { ImportPayload } from './imports.job.ts';
import { countOutcomes } from './imports.report.ts';
import type { ImportKind } from './imports.row.ts';
import {
  type Applying,
  BatchConflict,
  type ImportProgress,
  type RowOutcome,
  shares,
} from './imports.types.ts';

const MAX_ATTEMPTS = 10;

/** Applies the rows of one batch of the plan. */
export function applyBatch(
  kind: ImportPayload['kind'],
  applying: Applying,
  batch: number,
): Promise<RowOutcome[]> {
  return kind === 'cards' ? applyCards(applying, batch) : applyRelations(applying, batch);
}

/** Whether a write violated a unique index because of a concurrent write. */
export function isClash(error: unknown): boolean {
  if (error instanceof EstateError) {
    return ['sibling_name_taken', 'external_id_taken', 'duplicate_relation'].includes(error.code);
  }
  return sqlState(error) === '23505';
}

/**
 * Applies the plan batch by batch, each in a separate transaction together with its outcomes and the checkpoint. A dry
 * run rolls each back and stores the outcomes afterwards.
 */
export async function applyBatches(
  job: RunningJob<ImportPayload>,
  { db }: Services,
  from: Extract<ImportProgress, { stage: 'apply' }>,
): Promise<void> {
  const { payload, signal } = job;
  const counts = { ...(await countOutcomes(db, job.id)), total: await countRows(db, job.id, payload.kind) };
  for (let batch = from.batch; batch < from.batches; batch += 1) {
    signal.throwIfAborted();
    const { ctx, id: jobId } = job;
    const planned = { ctx, kind: payload.kind, jobId, batch, dryRun: payload.dry_run };
    const outcomes = await attemptBatch(planned, (work, rows) =>
      job.checkpoint(work, stepAfter(counts, rows, batch + 1, from.batches)),
    );
    if (payload.dry_run) {
      await inTransaction(db, async (sql) => {
        await storeOutcomes(sql, job.id, outcomes);
        await job.checkpoint({ sql }, stepAfter(counts, outcomes, batch + 1, from.batches));
      });
    }
    Object.assign(counts, stepAfter(counts, outcomes, batch + 1, from.batches).counts);
  }
}

/** A batch of the plan of one kind of rows. */
export interface PlannedBatch {
  ctx: Ctx;
  kind: ImportKind;
  /** The id under which the plan is stored. */
  jobId: string;
  batch: number;
  dryRun: boolean;
}

/**
 * Retries a batch until no concurrent write conflicts with it, without the rows that conflict.
 * @param keep stores the outcomes of the rows in the transaction of the batch; not called in a dry run.
 */
export async function attemptBatch(
  { ctx, kind, jobId, batch, dryRun }: PlannedBatch,
  keep: (work: Work, outcomes: RowOutcome[]) => Promise<void>,
): Promise<RowOutcome[]> {
  let known: ReadonlyMap<number, FieldError> = new Map();
  let searchTaken = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await command(
        ctx,
        async (work) => {
          const applying = { work, ctx, jobId, dryRun, known, searchTaken };
          const outcomes = await applyBatch(kind, applying, batch);
          if (!dryRun) {
            await storeOutcomes(work.sql, jobId, outcomes);
            await keep(work, outcomes);
          }
          return outcomes;
        },
        { dryRun },
      );
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      if (error instanceof BatchConflict) known = error.faults;
      else if (isClash(error)) searchTaken = true;
      else throw error;
    }
  }
}

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
