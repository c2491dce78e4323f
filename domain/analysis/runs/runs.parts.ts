import { inTransaction, type Sql } from '../../../platform/database.ts';
import { pack, unpack } from '../../../platform/pack.ts';
import type { JobStep, RunningJob } from '../../kernel/jobs/jobs.running.ts';

/** The results of the steps of a run, stored until the run ends. */
export interface RunParts {
  /** The result of a step; undefined where there is none, or one in the format of another version. */
  read<T>(part: string): Promise<T | undefined>;
  /** Stores the result of a step, replacing an earlier one, together with the checkpoint of the job. */
  store(part: string, value: unknown, step: JobStep): Promise<void>;
}

/** @param runId the run that the job executes. */
export function runParts(job: Pick<RunningJob, 'ctx' | 'checkpoint'>, runId: string): RunParts {
  const { db } = job.ctx;
  return {
    async read<T>(part: string) {
      const row = await db('analysis_parts').where({ run_id: runId, part }).first('content');
      return unpack<T>(row?.content);
    },
    async store(part, value, step) {
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

/** Deletes the parts of a run that has ended. */
export async function deleteParts(sql: Sql, runId: string): Promise<void> {
  await sql('analysis_parts').where({ run_id: runId }).delete();
}
