import { inTransaction } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { bufferEvents } from '../../kernel/events/events.buffer.ts';
import type { JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { applyBatch, isClash } from './imports.apply-batches.ts';
import { endWithReport } from './imports.finish.ts';
import type { ImportPayload } from './imports.job.ts';
import { storeOutcomes } from './imports.staging.ts';
import { BatchConflict, type ImportProgress, type RowOutcome, shares } from './imports.types.ts';

const MAX_ATTEMPTS = 5;

/** A row of an atomic import has failed after the plan was made; all of it is rolled back. */
class AtomicRefusal extends Error {
  readonly outcomes: RowOutcome[];
  constructor(outcomes: RowOutcome[]) {
    super('a row of an atomic import has failed');
    this.outcomes = outcomes;
  }
}

/**
 * Carries out the whole plan, the report and the job's end in one transaction: all rows or none, however the worker
 * ends. Does nothing when a row has failed already.
 * @returns undefined when nothing was written.
 */
export async function applyAtomically(
  job: RunningJob<ImportPayload>,
  services: Services,
  { batches }: Extract<ImportProgress, { stage: 'apply' }>,
): Promise<JobResult | undefined> {
  const { db } = services;
  const failed = await db('import_outcomes').where({ job_id: job.id, outcome: 'failed' }).first('line');
  if (failed) return undefined;
  try {
    return await attempt(job, services, batches);
  } catch (error) {
    if (!(error instanceof AtomicRefusal)) throw error;
    await inTransaction(db, async (sql) => {
      await storeOutcomes(sql, job.id, error.outcomes);
      await job.checkpoint({ sql }, { checkpoint: { stage: 'report' } satisfies ImportProgress });
    });
    return undefined;
  }
}

async function attempt(
  job: RunningJob<ImportPayload>,
  services: Services,
  batches: number,
): Promise<JobResult> {
  const { ctx, payload, signal } = job;
  let searchTaken = false;
  for (let count = 1; ; count += 1) {
    try {
      return await command(ctx, async (work) => {
        await job.hold(work);
        const events = await bufferEvents(work, ctx);
        const failed: RowOutcome[] = [];
        for (let batch = 0; batch < batches; batch += 1) {
          signal.throwIfAborted();
          const applying = {
            work: events.work,
            ctx,
            jobId: job.id,
            dryRun: false,
            known: new Map<number, FieldError>(),
            searchTaken,
          };
          const outcomes = await applyBatch(payload.kind, applying, batch);
          failed.push(...outcomes.filter(({ outcome }) => outcome === 'failed'));
          await storeOutcomes(work.sql, job.id, outcomes);
          await events.flush();
          job.progress(
            shares.read + shares.plan + ((batch + 1) / batches) * shares.apply,
            'Importing at once',
          );
        }
        if (failed.length > 0) throw new AtomicRefusal(failed);
        const result = await endWithReport(work.sql, job, services);
        await events.record();
        return result;
      });
    } catch (error) {
      if (error instanceof BatchConflict) {
        throw new AtomicRefusal(
          [...error.faults].map(([line, fault]) => ({ line, outcome: 'failed', errors: [fault] })),
        );
      }
      if (!isClash(error) || count === MAX_ATTEMPTS) throw error;
      searchTaken = true;
    }
  }
}
