import { lockBook } from '../../../domain/exchange/itsm/book.read.ts';
import { dropUnrelatedLinks } from '../../../domain/exchange/itsm/runs.links.ts';
import { countOutcomes, openRecords, passOver } from '../../../domain/exchange/itsm/runs.plan.ts';
import { changeRun, loadRun, logRun } from '../../../domain/exchange/itsm/runs.store.ts';
import type { RunStats } from '../../../domain/exchange/itsm/runs.types.ts';
import { settleWaiting } from '../../../domain/exchange/itsm/waiting.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { JobResult } from '../../../domain/kernel/jobs/jobs.running.ts';
import { storeBook } from '../port/book.rows.ts';
import type { RunJob, RunMapping } from './run.begin.ts';
import type { RunClosing } from './run.plan.ts';

/** What a run has done besides what its rows tell. */
export interface Done {
  remoteCalls: number;
  seconds: Record<string, number>;
  findings: number;
  budget?: RunStats['budget'];
}

/**
 * Ends a run whose rows have ended, but for those that a person has rejected: the next one goes on from where this one
 * has read. While rows wait for a person's word, the run waits with them.
 */
export async function finishRun(job: RunJob, runId: string, done: Done): Promise<JobResult> {
  return await command(job.ctx, async (work) => {
    const { sql } = work;
    const run = await loadRun(sql, runId, 'for update');
    await passOver(sql, runId);
    const counted = await countOutcomes(sql, runId);
    const stats = statsOf(counted, done);
    await sql('itsm_runs').where({ id: runId }).update({ remote_calls: done.remoteCalls });
    const waits = counted.some(({ waiting }) => waiting);
    const result = { result: { run_id: runId }, counts: countsOf(stats) };
    if (waits) {
      await changeRun(work, runId, 'itsm_run.partly_applied', { status: 'review', stage: 'review' }, stats);
      await job.finish({ sql }, { ...result, message: 'the rest of the plan waits for review' });
      return result;
    }
    const book = await lockBook(sql, run.mapping_id);
    const before = new Set((run.mapping as RunMapping).again);
    const later = book.again.filter((id) => !before.has(id));
    const { again, absences, watermark, ...rest } = run.closing as RunClosing;
    await storeBook(sql, run.mapping_id, [
      ...Object.entries(absences).map(
        ([remoteId, count]) => ({ op: 'absences', remoteId, absences: count }) as const,
      ),
      {
        op: 'again',
        remoteIds: [...new Set([...again, ...later, ...(await openRecords(sql, runId))])].sort(),
      },
      { op: 'watermark', watermark },
    ]);
    await sql('itsm_books').where({ mapping_id: run.mapping_id }).update({
      links_watermark: rest.linksWatermark,
      local_position: rest.localPosition,
      complete_read_at: rest.completeReadAt,
      pulled_read_at: rest.pulledReadAt,
      pushed_read_at: rest.pushedReadAt,
      pulled_position: rest.pulledPosition,
      pushed_watermark: rest.pushedWatermark,
    });
    await settleWaiting(sql, run.mapping_id, runId);
    await dropUnrelatedLinks(sql, run.mapping_id, runId);
    await logRun(sql, runId, 'done', 'info', 'The run is done.');
    await changeRun(
      work,
      runId,
      'itsm_run.completed',
      { status: 'completed', stage: 'done', completed_at: sql.raw('clock_timestamp()') },
      stats,
    );
    await job.finish({ sql }, { ...result, message: 'done' });
    return result;
  });
}

type Counted = Awaited<ReturnType<typeof countOutcomes>>;

function statsOf(counted: Counted, { seconds, findings, budget }: Done): RunStats {
  const sum = (which: (one: Counted[number]) => boolean) =>
    counted.reduce((total, one) => total + (which(one) ? one.n : 0), 0);
  const outcomes: Record<string, number> = {};
  const applied: Record<string, number> = {};
  for (const { action, progress, approval, n } of counted) {
    const ended = progress === 'pending' && approval === 'rejected' ? 'skipped' : progress;
    outcomes[ended] = (outcomes[ended] ?? 0) + n;
    if (progress === 'applied') applied[action] = (applied[action] ?? 0) + n;
  }
  return {
    processed: sum(({ progress }) => progress !== 'pending' && progress !== 'begun'),
    created: applied.create ?? 0,
    updated: applied.update ?? 0,
    deleted: applied.delete ?? 0,
    relations_created: applied.relate ?? 0,
    relations_deleted: applied.unrelate ?? 0,
    skipped: outcomes.skipped ?? 0,
    errors: sum(({ progress }) => progress === 'stale' || progress === 'refused'),
    applied,
    outcomes,
    findings,
    seconds,
    budget: budget ?? null,
  };
}

const countsOf = ({
  created = 0,
  updated = 0,
  deleted = 0,
  relations_created = 0,
  relations_deleted = 0,
  skipped = 0,
  errors = 0,
}: RunStats) => ({ created, updated, deleted, relations_created, relations_deleted, skipped, errors });
