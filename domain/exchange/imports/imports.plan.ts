import {
  cancelOnAbort,
  type Db,
  inTransaction,
  query,
  type Transaction,
} from '../../../platform/database.ts';
import { retryWhile } from '../../../platform/retry.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { cardPlan, leveledTypes } from './imports.cards.plan.ts';
import { planTable } from './imports.cards.stage.ts';
import { costPlan } from './imports.costs.plan.ts';
import { flowPlan } from './imports.flows.plan.ts';
import type { ImportPayload } from './imports.job.ts';
import { createPlan, type Planned } from './imports.planning.ts';
import { relationPlan } from './imports.relations.plan.ts';
import { PlanOutdated } from './imports.types.ts';

const specs = { cards: cardPlan, relations: relationPlan, costs: costPlan, data_flows: flowPlan };

/** Which staged rows are planned, and how. */
type PlanOptions = Pick<ImportPayload, 'kind' | 'mode'> & { batchRows: number; firstBatch?: number };

/** Plans staged rows in the caller's transaction. @param id the job under which they are staged. */
export async function planStaged(
  { ctx, signal }: RunningJob,
  sql: Transaction,
  id: string,
  { kind, mode, batchRows, firstBatch = 0 }: PlanOptions,
): Promise<Planned> {
  const leveled = leveledTypes(ctx.metamodel);
  const pulse = () => signal.throwIfAborted();
  return await createPlan({ sql, ctx, jobId: id, mode, batchRows, firstBatch, leveled, pulse }, specs[kind]);
}

/**
 * How many rows failed since their name is taken: the transaction of a plan sees what others commit between its statements, so
 * that cards which it did not find first can have the names then.
 */
const countTaken = (sql: Transaction, job: string): Promise<number> =>
  query(sql)
    .value<number>`select count(*)::int from import_outcomes where job_id = ${job} and outcome = 'failed'
    and errors @> '[{"code":"sibling_name_taken"}]'`;

/** How often an upsert is planned while others write the same rows: each of them can be in between once more. */
const MAX_PLANS = 5;

/**
 * Plans the staged rows of a job in one transaction, and an upsert again while names of its rows are taken; of an earlier
 * plan, the batches from `firstBatch` on are replaced.
 * @param store is called last in that transaction, and stores the checkpoint.
 */
export async function planImport(
  job: RunningJob,
  db: Db,
  options: PlanOptions,
  store: (sql: Transaction, planned: Planned) => Promise<void>,
): Promise<Planned> {
  let plans = 0;
  let before = 0;
  const plan = async (sql: Transaction): Promise<Planned> => {
    using _cancelling = await cancelOnAbort(db, sql, job.signal);
    const { kind, mode, firstBatch = 0 } = options;
    plans += 1;
    // without written batches, rows that failed in planning are planned again
    if (firstBatch === 0) await sql('import_outcomes').where({ job_id: job.id }).delete();
    await sql(planTable[kind]).where({ job_id: job.id }).where('batch', '>=', firstBatch).delete();
    const planned = await planStaged(job, sql, job.id, options);
    const mayRepeat = mode === 'upsert' && plans < MAX_PLANS && planned.failed > 0;
    const taken = mayRepeat ? await countTaken(sql, job.id) : 0;
    // as many as before: they are taken by what nobody is writing now
    if (taken > 0 && taken !== before) {
      before = taken;
      throw new PlanOutdated(firstBatch);
    }
    await store(sql, planned);
    return planned;
  };
  const isTaken = (error: unknown) => error instanceof PlanOutdated;
  return await retryWhile(MAX_PLANS, isTaken, () => inTransaction(db, plan)).catch((error) => {
    job.signal.throwIfAborted();
    throw error;
  });
}
