import { inTransaction, type Sql } from '../../../platform/database.ts';
import { pack, unpack } from '../../../platform/pack.ts';
import type { JobStep, RunningJob } from '../../kernel/jobs/jobs.running.ts';

/** What the steps of a run have found, kept until the run ends. */
export interface RunParts {
  /** What was kept of a step; undefined where it is not done, or was done by a version that kept it otherwise. */
  read<T>(part: string): Promise<T | undefined>;
  /** Keeps what a step found, in place of what was kept of it before, with how far the job is. */
  keep(part: string, value: unknown, step: JobStep): Promise<void>;
}

/** @param runId the run that the job carries out. */
export function runParts(job: Pick<RunningJob, 'ctx' | 'checkpoint'>, runId: string): RunParts {
  const { db } = job.ctx;
  return {
    async read<T>(part: string) {
      const row = await db('analysis_parts').where({ run_id: runId, part }).first('content');
      return unpack<T>(row?.content);
    },
    async keep(part, value, step) {
      const content = Buffer.from(pack(value).buffer);
      await inTransaction(db, async (sql) => {
        await sql('analysis_parts')
          .insert({ run_id: runId, part, content })
          .onConflict(['run_id', 'part'])
          .merge();
        await job.checkpoint({ sql }, step);
      });
    },
  };
}

/** Gives up what was kept of a run that has ended. */
export async function dropParts(sql: Sql, runId: string): Promise<void> {
  await sql('analysis_parts').where({ run_id: runId }).delete();
}
