import {
  type FileFacts,
  recordFile,
  type StoredContent,
  type StoredFile,
} from '../../domain/kernel/files/files.store.ts';
import type { JobResult, RunningJob } from '../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { inTransaction } from '../../platform/database.ts';

/**
 * Finishes a job with stored content as its file, which is deleted with the job.
 * @param describe returns the job's result besides the file's id.
 */
export async function finishWithFile(
  job: Pick<RunningJob<unknown>, 'finish'>,
  services: Services,
  content: StoredContent,
  facts: Omit<FileFacts, 'expiresAt'>,
  describe: (file: StoredFile) => Omit<JobResult, 'fileId'>,
): Promise<JobResult> {
  return await inTransaction(services.db, async (sql) => {
    const file = await recordFile(sql, content, { ...facts, expiresAt: null });
    const result = { fileId: file.id, ...describe(file) };
    await job.finish({ sql }, result);
    return result;
  });
}
