import type { Knex } from 'knex';
import { forgetHeard } from '../../../domain/exchange/itsm/runs.heard.ts';
import {
  approvePlan,
  askQuestions,
  countPlan,
  markOpenQuestions,
  relationsWaiting,
} from '../../../domain/exchange/itsm/runs.plan.ts';
import { changeRun, loadRun, logRun } from '../../../domain/exchange/itsm/runs.store.ts';
import type { RunRow, RunStage, RunStats } from '../../../domain/exchange/itsm/runs.types.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { JobResult } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { type Db, isConnectionLoss } from '../../../platform/database.ts';
import type { OpenedRemote } from '../connections/connections.kinds.ts';
import { budgetLeft } from '../limiter/limiter.ts';
import { createEvaluate } from '../mappings/expressions.ts';
import { applyStage } from './run.apply.ts';
import {
  actingJob,
  beginRun,
  heedDrift,
  openRemote,
  type RunJob,
  readAllIfUntold,
  workOf,
} from './run.begin.ts';
import { leaveOutHidden } from './run.hidden.ts';
import { type MadePlan, planRun } from './run.plan.ts';
import { readForRun } from './run.read.ts';
import { likeness } from './run.score.ts';
import { settleEarlier } from './run.settle.ts';
import { type Stopwatch, stopwatch } from './run.stopwatch.ts';
import { type RunConditions, type RunWork, usualConditions } from './run.types.ts';
import { planUndo } from './run.undo.plan.ts';

/**
 * Carries a run on to its plan, and a plan that need not wait, or was approved, to its end. Called again after a kill it
 * goes on where it was. It acts with the rights of the connection's owner, and of who has asked for it.
 * @throws OwnerRefused when the owner may not do what the run does.
 */
export async function carryRun(
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
      const checked = await heedDrift(job, run, connector, conditions.clock);
      const looked = await readAllIfUntold(job, checked, connector);
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
    await noteEffort(services.db, run.id, run.remote_calls + connector.calls(), watch);
    throw error;
  } finally {
    await connector.close();
  }
}

/**
 * Keeps how often the remote was called, and how long it has taken; what another process has kept meanwhile is not made
 * less.
 */
async function noteEffort(db: Db, runId: string, calls: number, { seconds }: Stopwatch): Promise<void> {
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
    await leaveOutHidden(work);
  });
  await work.keep({}, async (sql) => {
    // told once, however often planning is begun anew
    if (run.stage === 'read') {
      await logRun(sql, run.id, 'read', 'info', readingText(work));
      const late = lateText(work);
      if (late !== null) await logRun(sql, run.id, 'read', 'warning', late);
    }
    await enterStage(sql, run.id, 'match');
  });
  let since = performance.now();
  const tools = {
    score: likeness(work.loaded.mapping, job.signal),
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
    waits: whyWaits(run, work, made),
    stats: {
      fetched,
      relations_fetched,
      relations_waiting: made.resting,
      seconds,
      budget: await budgetLeft(connector),
    },
    also: async (sql) => {
      await tellResting(sql, work, made.resting);
      const already_open = await markOpenQuestions(sql, run.id, work.mappingId);
      await askQuestions(sql, run.id, work.mappingId, work.complete);
      await forgetHeard(sql, run.id);
      return { already_open };
    },
  });
}

/** Tells that relations wait for other mappings; once, as long as nothing about it changes. */
async function tellResting(sql: Knex.Transaction, work: RunWork, count: number): Promise<void> {
  if (count === 0 || count === (await relationsWaiting(sql, work.mappingId))) return;
  const others = Object.values(work.loaded.resting).join(', ');
  const text = `${count} relations wait for mappings that are paused or cannot run: ${others}.`;
  await logRun(sql, work.runId, 'plan', 'info', text);
}

async function enterStage(sql: Knex.Transaction, id: string, stage: RunStage): Promise<void> {
  await sql('itsm_runs').where({ id }).update({ stage });
}

function readingText({ complete, state }: RunWork): string {
  const what = complete ? 'everything' : 'what has changed';
  const withheld = state.withheld
    ? '; rows are kept back from the account, so that nothing is taken for gone'
    : '';
  return `Read ${what}: ${state.fetched} records, ${state.relations} relations${withheld}.`;
}

/** Tells that the remote's times lag behind; null where they do not. */
const lateText = ({ state: { late = 0 } }: RunWork): string | null =>
  late === 0
    ? null
    : `${late} changes bear a time from before the last reading, though they were not there then. An import over there that takes long does so; else the remote's clock or the time zone of the connection is wrong, and what newest_wins decides is too.`;

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
      { ...stats, ...more, skipped: tellingRows(planned), planned },
    );
    if (waits !== null) {
      await job.finish({ sql }, { message: 'the plan waits for review', result: { run_id: run.id } });
    }
  });
  return waits !== null;
}

/** Rows that write nothing and only tell. */
const tellingRows = ({ skip = 0, stage = 0, conflict = 0 }: Record<string, number>): number =>
  skip + stage + conflict;

const planText = ({ changes }: MadePlan, waits: string | null): string =>
  waits === null
    ? `The plan has ${changes} changes, and is applied.`
    : `The plan has ${changes} changes, and waits for review: ${waits}`;

/** Why a plan is not applied at once; null when it is. */
function whyWaits(run: RunRow, { loaded }: RunWork, { stopped, changes, pairs }: MadePlan): string | null {
  if (stopped !== null) return stopped;
  if (changes === 0) return null;
  if (!run.auto_apply) return 'nothing is applied without a look.';
  const { maxChanges = null, maxRatio = null } = loaded.autoApply ?? {};
  if (maxChanges !== null && changes > maxChanges) {
    return `more than the ${maxChanges} changes that the mapping lets through.`;
  }
  if (maxRatio !== null && changes > maxRatio * pairs) {
    return `more than the part of ${maxRatio} of ${pairs} pairs that the mapping lets through.`;
  }
  return null;
}
