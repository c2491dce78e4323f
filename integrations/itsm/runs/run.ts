import type { Knex } from 'knex';
import type { RunRow, RunStage, RunStats } from '../../../domain/exchange/itsm/runs.store.ts';
import { changeRun, loadRun, logRun } from '../../../domain/exchange/itsm/runs.store.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { JobResult } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { counted } from '../../../platform/counted.ts';
import { type Db, isConnectionLoss } from '../../../platform/database.ts';
import type { OpenedRemote } from '../connections/connections.open.ts';
import type { Connector } from '../connectors/connector.ts';
import type { PlanningTools } from '../engine/plan.ts';
import { budgetLeft } from '../limiter/limiter.ts';
import { createEvaluate } from '../mappings/expressions.ts';
import { settleRun } from '../port/apply.run.ts';
import { isRemoteError } from '../remote.ts';
import { deleteObserved, suspiciouslyEmptyColumns } from '../store/observed.ts';
import { approvePlan, countPlan, unsettledRuns } from '../store/plan-rows.ts';
import { markRepeatedItems, openReviewItems } from '../store/review-items.ts';
import { applyStage } from './run.apply.ts';
import {
  actingJob,
  beginRun,
  handleSchemaDrift,
  openRemote,
  type RunJob,
  readAllIfChangesHidden,
  workOf,
} from './run.begin.ts';
import { type MadePlan, planRun } from './run.plan.ts';
import { readForRun } from './run.read.ts';
import { scoreSimilar } from './run.score.ts';
import { type RunConditions, type RunWork, type Stopwatch, stopwatch, usualConditions } from './run.state.ts';
import { planUndo } from './run.undo.ts';

/**
 * Carries a run on to its plan, and a plan that need not wait, or was approved, to its end. Called again after a kill it
 * goes on where it was. It acts with the rights of the connection's owner, and of who has asked for it.
 * @throws OwnerRefused when the owner may not do what the run does.
 */
export async function executeRun(
  started: RunJob,
  services: Services,
  conditions = usualConditions,
): Promise<JobResult> {
  const run = await beginRun(started);
  if (!run) return { message: 'the run has ended', result: { run_id: started.payload.run_id } };
  const job = await actingJob(started, run);
  const connector = await openRemote(services, run, job.signal, conditions.clock);
  const watch = stopwatch(run);
  try {
    if (run.plan_made_at === null && run.trigger === 'undo') await planUndo(job, run, watch);
    else if (run.plan_made_at === null) {
      const checked = await handleSchemaDrift(job, run, connector, conditions.clock);
      const looked = await readAllIfChangesHidden(job, checked, connector);
      await settleEarlier(job, run, connector);
      const waits = await makePlanOf(job, looked, connector, { conditions, watch });
      if (waits) return { message: 'the plan waits for review', result: { run_id: run.id } };
    }
    const planned = await loadRun(services.db, run.id);
    return await applyStage(job, planned, connector, {
      calls: () => run.remote_calls + connector.calls(),
      watch,
    });
  } catch (error) {
    // the day's requests count those of failed runs too
    await storeEffort(services.db, run.id, run.remote_calls + connector.calls(), watch);
    throw error;
  } finally {
    await connector.close();
  }
}

/**
 * Keeps how often the remote was called, and how long it has taken; what another process has kept meanwhile is not made
 * less.
 */
async function storeEffort(db: Db, runId: string, calls: number, { seconds }: Stopwatch): Promise<void> {
  try {
    await db.raw(
      `update itsm_runs set remote_calls = greatest(remote_calls, ?),
         stats = stats || jsonb_build_object('seconds', ?::jsonb)
       where id = ?`,
      [calls, JSON.stringify(seconds), runId],
    );
  } catch (error) {
    // what has failed first is what is told
    if (!isConnectionLoss(error)) throw error;
  }
}

/** Reads, matches and plans. @returns whether a person has to look at the plan. */
async function makePlanOf(
  job: RunJob,
  run: RunRow,
  connector: OpenedRemote,
  { conditions, watch: { seconds, timed, add } }: { conditions: RunConditions; watch: Stopwatch },
): Promise<boolean> {
  const work = await workOf(job, run, connector, conditions);
  await timed('read', async () => {
    await readForRun(work);
    await excludeHiddenColumns(work);
  });
  await work.keep({}, async (sql) => {
    // told once, however often planning is begun anew
    if (run.stage === 'read') {
      await logRun(sql, run.id, 'read', 'info', readSummary(work));
      const late = clockWarning(work);
      if (late !== null) await logRun(sql, run.id, 'read', 'warning', late);
    }
    await enterStage(sql, run.id, 'match');
  });
  let since = performance.now();
  const tools: PlanningTools = {
    score: (records, cards) => scoreSimilar(work.mapping, { records, cards }, job.signal),
    evaluate: createEvaluate(),
    onMatched: async () => {
      add('match', since);
      await work.keep({}, (sql) => enterStage(sql, run.id, 'plan'));
      since = performance.now();
    },
  };
  const made = await planRun(
    work,
    tools,
    (rows) => job.progress(0.4, `${rows} rows planned`),
    run.auto_apply,
  );
  add('plan', since);
  const { fetched, relations: relations_fetched } = work.state;
  return await storePlan(job, run, made, {
    waits: reviewReason(run, work, made),
    stats: {
      fetched,
      relations_fetched,
      relations_waiting: made.resting,
      seconds,
      budget: await budgetLeft(connector),
    },
    also: async (sql) => {
      await logBlockedRelations(sql, work, made.resting);
      const already_open = await markRepeatedItems(sql, run.id, work.mappingId);
      await openReviewItems(sql, run.id, work.mappingId, work.complete);
      await deleteObserved(sql, run.id);
      return { already_open };
    },
  });
}

/** Tells that relations wait for other mappings; once, as long as nothing about it changes. */
async function logBlockedRelations(sql: Knex.Transaction, work: RunWork, count: number): Promise<void> {
  if (count === 0 || count === (await lastBlockedRelations(sql, work.mappingId))) return;
  const others = Object.values(work.mapping.blocked_targets).join(', ');
  const text = `Mappings that are paused or cannot run block ${counted(count, 'relation')}: ${others}.`;
  await logRun(sql, work.runId, 'plan', 'info', text);
}

/** The number of blocked relations as the last completed run of the mapping reported it. */
async function lastBlockedRelations(sql: Knex.Transaction, mappingId: string): Promise<number> {
  const { rows } = await sql.raw(
    `select coalesce((stats ->> 'relations_waiting')::int, 0) as n from itsm_runs
     where mapping_id = ? and status = 'completed' and undo_of is null order by id desc limit 1`,
    [mappingId],
  );
  return rows[0]?.n ?? 0;
}

async function enterStage(sql: Knex.Transaction, id: string, stage: RunStage): Promise<void> {
  await sql('itsm_runs').where({ id }).update({ stage });
}

function readSummary({ complete, state }: RunWork): string {
  const what = complete ? 'everything' : 'what has changed';
  const withheld = state.withheld
    ? '; rows are kept back from the account, so that nothing is taken for gone'
    : '';
  return `Read ${what}: ${counted(state.fetched, 'record')}, ${counted(state.relations, 'relation')}${withheld}.`;
}

/** Tells that the remote's times lag behind; null where they do not. */
const clockWarning = ({ state: { late = 0 } }: RunWork): string | null =>
  late === 0
    ? null
    : `The last reading did not show ${counted(late, 'change')} of an earlier time. A long import at the remote does this; otherwise the remote's clock or the time zone of the connection is wrong, and so are the decisions of newest_wins.`;

/** Stores that the plan is made, and what is known of it. @returns whether it waits for a person. */
async function storePlan(
  job: RunJob,
  run: RunRow,
  made: MadePlan,
  {
    waits,
    stats,
    also,
  }: { waits: string | null; stats: RunStats; also: (sql: Knex.Transaction) => Promise<RunStats> },
): Promise<boolean> {
  await command(job.ctx, async ({ sql, emit }) => {
    await job.hold({ sql });
    const more = await also(sql);
    // rows are stored as the run hopes to have them
    if ((waits === null) !== run.auto_apply) await approvePlan(sql, run.id, waits === null);
    await logRun(sql, run.id, 'plan', waits === null ? 'info' : 'warning', planText(made, waits));
    const planned = await countPlan(sql, run.id);
    await changeRun(
      { sql, emit },
      run.id,
      'itsm_run.planned',
      {
        status: waits === null ? 'running' : 'review',
        stage: waits === null ? 'apply' : 'review',
        stopped: made.stopped,
        closing: JSON.stringify(made.closing),
        plan_made_at: sql.raw('clock_timestamp()'),
      },
      { ...stats, ...more, skipped: informativeRows(planned), planned },
    );
    if (waits !== null) {
      await job.finish({ sql }, { message: 'the plan waits for review', result: { run_id: run.id } });
    }
  });
  return waits !== null;
}

/** Rows that write nothing and only tell. */
const informativeRows = ({ skip = 0, stage = 0, conflict = 0 }: Record<string, number>): number =>
  skip + stage + conflict;

const planText = ({ changes }: MadePlan, waits: string | null): string =>
  waits === null
    ? `The plan has ${counted(changes, 'change')}, and is applied.`
    : `The plan has ${counted(changes, 'change')}, and waits for review: ${waits}`;

/** Why a plan is not applied at once; null when it is. */
function reviewReason(
  run: RunRow,
  { mapping }: RunWork,
  { stopped, changes, pairs }: MadePlan,
): string | null {
  if (stopped !== null) return stopped;
  if (changes === 0) return null;
  if (!run.auto_apply) return 'nothing is applied without a look.';
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
 * Before anything is read, finds out what has become of writes that earlier runs of the mapping have sent and heard
 * nothing of. What cannot be told, since it is kept from the account, is asked again by the next run.
 */
async function settleEarlier(job: RunJob, run: RunRow, connector: Connector): Promise<void> {
  const { ctx, signal } = job;
  for (const earlier of await unsettledRuns(ctx.db, run.mapping_id)) {
    const hold: RunJob['hold'] = (work) => job.hold(work);
    try {
      const count = await settleRun({ ctx, connector, signal, hold }, earlier);
      const told = `Looked up ${count} writes of an earlier run, of which no answer had come.`;
      await logRun(ctx.db, run.id, 'read', 'info', told);
    } catch (error) {
      if (!isRemoteError(error, 'answer_lost')) throw error;
    }
  }
}

/**
 * Leaves columns out of the run that are kept from the account: they come back empty, and nothing of that is a change.
 * Only columns are asked about that have come back empty where they were not, or in records without a card: made without
 * its value, a card would be taken for one whose value somebody has cleared. And in records that are to be removed.
 */
async function excludeHiddenColumns(work: RunWork): Promise<void> {
  const { db, connector, mapping, mappingId, runId } = work;
  const emptied = await suspiciouslyEmptyColumns(db, runId, mappingId, mapping.fields);
  if (emptied.length === 0) return;
  const hidden = new Set(await connector.withheldFields(mapping.remote_table, emptied));
  if (hidden.size === 0) return;
  const kept = mapping.fields.filter(({ remote_field }) => !hidden.has(remote_field));
  work.mapping = { ...mapping, fields: kept };
  await work.keep({ hidden: [...hidden] }, async (sql) => {
    await sql('itsm_runs')
      .where({ id: runId })
      .update({ mapping: JSON.stringify(work.mapping) });
    const told = `Left out, since the remote keeps them from the account: ${[...hidden].join(', ')}.`;
    await logRun(sql, runId, 'read', 'warning', told);
  });
}
