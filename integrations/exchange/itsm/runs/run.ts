import type { RunRow, RunStage, RunStats } from '../../../../domain/exchange/itsm/itsm.model.ts';
import { createEvaluate } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import { changeRun, loadRun, logRun } from '../../../../domain/exchange/itsm/runs.commands.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { JobResult } from '../../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../../domain/kernel/services.ts';
import { counted } from '../../../../platform/counted.ts';
import { type Db, isConnectionLoss, query, type Transaction } from '../../../../platform/database.ts';
import { readVocabulary } from '../../../analysis/duplicates/vocabulary.ts';
import type { Connector } from '../connectors/connector.ts';
import type { PlanningTools } from '../engine/plan.ts';
import { readBudget } from '../limiter/limiter.ts';
import { settleRun } from '../port/apply.run.ts';
import { isRemoteError } from '../remote.ts';
import { deleteObserved, findSuspiciouslyEmptyColumns } from '../store/observed.ts';
import { approvePlan, countPlan, findRunsWithUnknownWrites } from '../store/plan-rows.ts';
import { markRepeatedItems, openReviewItems } from '../store/sync-state.ts';
import { applyStage } from './run.apply.ts';
import { type PlanSummary, planRun } from './run.plan.ts';
import { readForRun } from './run.read.ts';
import { scoreSimilar } from './run.score.ts';
import {
  beginRun,
  createRunWork,
  defaultConditions,
  handleSchemaDrift,
  openRemote,
  type RunConditions,
  type RunJob,
  type RunWork,
  readAllIfChangesHidden,
  type Stopwatch,
  stopwatch,
  withOwnerRights,
} from './run.state.ts';
import { planUndo } from './run.undo.ts';

/**
 * Executes a run: creates its plan, and applies it unless it has to be reviewed. Resumes an interrupted run. It acts with the
 * rights that the connection's owner and the requesting user have in common.
 * @throws OwnerRefused when the owner lacks a permission that the run needs.
 */
export async function executeRun(
  started: RunJob,
  services: Services,
  conditions = defaultConditions,
): Promise<JobResult> {
  const run = await beginRun(started);
  if (!run) return { message: 'the run has ended', result: { run_id: started.payload.run_id } };
  const job = await withOwnerRights(started, run);
  const connector = await openRemote(services, run, job.signal, conditions.clock);
  const watch = stopwatch(run);
  try {
    if (run.plan_made_at === null && run.trigger === 'undo') await planUndo(job, run, watch);
    else if (run.plan_made_at === null) {
      const checked = await handleSchemaDrift(job, run, connector, conditions.clock);
      const prepared = await readAllIfChangesHidden(job, checked, connector);
      await settleEarlierRuns(job, run, connector);
      const needsReview = await createPlan(job, prepared, connector, { conditions, watch });
      if (needsReview) return { message: 'the plan waits for review', result: { run_id: run.id } };
    }
    const planned = await loadRun(services.db, run.id);
    const options = { calls: () => run.remote_calls + connector.calls(), watch };
    return await applyStage(job, planned, connector, options);
  } catch (error) {
    // requests of failed runs count towards the daily number too
    await storeUsage(services.db, run.id, run.remote_calls + connector.calls(), watch);
    throw error;
  } finally {
    await connector.close();
  }
}

/** Stores the number of remote requests and the seconds by stage. A higher number stored by another process is retained. */
async function storeUsage(db: Db, runId: string, calls: number, { seconds }: Stopwatch): Promise<void> {
  try {
    await query(db).run`update itsm_runs set remote_calls = greatest(remote_calls, ${calls}),
         stats = stats || jsonb_build_object('seconds', ${JSON.stringify(seconds)}::jsonb)
       where id = ${runId}`;
  } catch (error) {
    // report the original error instead
    if (!isConnectionLoss(error)) throw error;
  }
}

/** Reads, matches and plans. @returns whether the plan needs a review. */
async function createPlan(
  job: RunJob,
  run: RunRow,
  connector: Connector,
  { conditions, watch: { seconds, timed, add } }: { conditions: RunConditions; watch: Stopwatch },
): Promise<boolean> {
  const work = await createRunWork(job, run, connector, conditions);
  await timed('read', async () => {
    await readForRun(work);
    await excludeHiddenColumns(work);
  });
  await work.checkpoint({}, async (sql) => {
    // logged once, even if planning starts again
    if (run.stage === 'read') {
      await logRun(sql, run.id, 'read', 'info', readSummary(work));
      const late = clockWarning(work);
      if (late !== null) await logRun(sql, run.id, 'read', 'warning', late);
    }
    await enterStage(sql, run.id, 'match');
  });
  const vocabulary = await readVocabulary(job.ctx.db);
  let since = performance.now();
  const tools: Omit<PlanningTools, 'storeRows'> = {
    score: (records, cards) => scoreSimilar(work.mapping, { records, cards, vocabulary }, job.signal),
    evaluate: createEvaluate(),
    onMatched: async () => {
      add('match', since);
      await work.checkpoint({}, (sql) => enterStage(sql, run.id, 'plan'));
      since = performance.now();
    },
  };
  const onProgress = (rows: number) => job.progress(0.4, `${rows} rows planned`);
  const plan = await planRun(work, tools, onProgress, run.auto_apply);
  add('plan', since);
  return await storePlan(job, work, plan, { run, seconds, budget: await readBudget(connector.limiter) });
}

/** Logs that other mappings block relations, if their number differs from that of the last completed run. */
async function logBlockedRelations(sql: Transaction, work: RunWork, count: number): Promise<void> {
  const [last = 0] = await query(sql)
    .column<number>`select coalesce((stats ->> 'relations_deferred')::int, 0) from itsm_runs
     where mapping_id = ${work.mappingId} and status = 'completed' and undo_of is null order by id desc limit 1`;
  if (count === 0 || count === last) return;
  const others = Object.values(work.mapping.blocked_targets).join(', ');
  const text = `Mappings that are paused or cannot run block ${counted(count, 'relation')}: ${others}.`;
  await logRun(sql, work.runId, 'plan', 'info', text);
}

async function enterStage(sql: Transaction, id: string, stage: RunStage): Promise<void> {
  await sql('itsm_runs').where({ id }).update({ stage });
}

function readSummary({ complete, state }: RunWork): string {
  const what = complete ? 'everything' : 'all changes';
  const hidden = state.withheld
    ? '; rows are hidden from the account, so no missing record counts as gone'
    : '';
  return `Read ${what}: ${counted(state.fetched, 'record')}, ${counted(state.relations, 'relation')}${hidden}.`;
}

/** A warning about changes that are older than the last run but were not in it; null if there are none. */
const clockWarning = ({ state: { late = 0 } }: RunWork): string | null =>
  late === 0
    ? null
    : `${counted(late, 'change')} with an earlier time ${late === 1 ? 'was' : 'were'} missing in the last read. A long import at the remote can cause this; otherwise the remote's clock or the time zone of the connection is wrong, and so are the decisions of newest_wins.`;

/** Stores the summary of the plan and the new status of the run. @returns whether the plan needs a review. */
async function storePlan(
  job: RunJob,
  work: RunWork,
  plan: PlanSummary,
  { run, ...stats }: { run: RunRow } & Pick<RunStats, 'seconds' | 'budget'>,
): Promise<boolean> {
  const reviewReason = findReviewReason(run, work, plan);
  const needsReview = reviewReason !== null;
  const { runId, mappingId, state } = work;
  await command(job.ctx, async ({ sql, emit }) => {
    await job.lock({ sql });
    await logBlockedRelations(sql, work, plan.blockedRelations);
    const already_open = await markRepeatedItems(sql, runId, mappingId);
    await openReviewItems(sql, runId, mappingId, work.complete);
    await deleteObserved(sql, runId);
    // rows were stored as approved if the run has auto_apply
    if (needsReview === run.auto_apply) await approvePlan(sql, runId, !needsReview);
    const then = needsReview ? `waits for review: ${reviewReason}` : 'is applied.';
    const text = `The plan has ${counted(plan.changes, 'change')} and ${then}`;
    await logRun(sql, runId, 'plan', needsReview ? 'warning' : 'info', text);
    const planned = await countPlan(sql, runId);
    const { skip = 0, stage = 0, conflict = 0 } = planned;
    const change = {
      status: needsReview ? 'review' : 'running',
      stage: needsReview ? 'review' : 'apply',
      stopped: plan.stopped,
      closing: JSON.stringify(plan.closing),
      plan_made_at: sql.raw('clock_timestamp()'),
    } as const;
    await changeRun({ sql, emit }, runId, 'itsm_run.planned', change, {
      ...stats,
      fetched: state.fetched,
      relations_fetched: state.relations,
      relations_deferred: plan.blockedRelations,
      already_open,
      skipped: skip + stage + conflict,
      planned,
    });
    if (needsReview)
      await job.finish({ sql }, { message: 'the plan waits for review', result: { run_id: runId } });
  });
  return needsReview;
}

/** Why a plan is not applied without review; null if it is. */
function findReviewReason(
  run: RunRow,
  { mapping }: RunWork,
  { stopped, changes, pairs }: PlanSummary,
): string | null {
  if (stopped !== null) return stopped;
  if (changes === 0) return null;
  if (!run.auto_apply) return 'the run does not apply changes without review.';
  const { auto_apply_max_changes: maxChanges, auto_apply_max_ratio: maxRatio } = mapping;
  if (maxChanges !== null && changes > maxChanges) {
    return `more than the ${counted(maxChanges, 'change')} that the mapping applies without review.`;
  }
  if (maxRatio !== null && changes > maxRatio * pairs) {
    return `more than the share of ${maxRatio} of ${pairs} pairs that the mapping applies without review.`;
  }
  return null;
}

/**
 * Before reading, looks up the writes of earlier runs whose responses were lost. If the remote does not show their outcome to the
 * account, the next run tries again.
 */
async function settleEarlierRuns(job: RunJob, run: RunRow, connector: Connector): Promise<void> {
  const { ctx, signal } = job;
  for (const earlier of await findRunsWithUnknownWrites(ctx.db, run.mapping_id)) {
    const lockRun: RunJob['lock'] = (work) => job.lock(work);
    try {
      const count = await settleRun({ ctx, connector, signal, lockRun }, earlier);
      const text = `Looked up ${counted(count, 'write')} of an earlier run without a response.`;
      await logRun(ctx.db, run.id, 'read', 'info', text);
    } catch (error) {
      if (!isRemoteError(error, 'response_lost')) throw error;
    }
  }
}

/**
 * Excludes columns that are hidden from the account, since they are read as empty. Only columns that are suspiciously empty are
 * checked: where the base is not empty, in records without a card, and in records that are going to be removed.
 */
async function excludeHiddenColumns(work: RunWork): Promise<void> {
  const { db, connector, mapping, mappingId, runId } = work;
  const emptied = await findSuspiciouslyEmptyColumns(db, runId, mappingId, mapping.fields);
  if (emptied.length === 0) return;
  const hidden = new Set(await connector.findHiddenColumns(mapping.remote_table, emptied));
  if (hidden.size === 0) return;
  const fields = mapping.fields.filter(({ remote_field }) => !hidden.has(remote_field));
  work.mapping = { ...mapping, fields };
  await work.checkpoint({ hidden: [...hidden] }, async (sql) => {
    await sql('itsm_runs')
      .where({ id: runId })
      .update({ mapping: JSON.stringify(work.mapping) });
    const text = `Columns excluded, since they are hidden from the account: ${[...hidden].join(', ')}.`;
    await logRun(sql, runId, 'read', 'warning', text);
  });
}
