import { ApiError, call } from './calls.ts';
import { type Job, readJob } from './generated/index.ts';
import { pause } from './pause.ts';

interface WaitOptions {
  signal?: AbortSignal;
  /** Called whenever the job was read. */
  onProgress?(job: Job): void;
}

const FIRST_MS = 200;
const LONGEST_MS = 5_000;

/** Waits until a job has ended, asking less and less often. @throws ApiError `job_failed` if it failed or was cancelled. */
export async function waitForJob(id: string, { signal, onProgress }: WaitOptions = {}): Promise<Job> {
  for (let delay = FIRST_MS; ; delay = Math.min(LONGEST_MS, delay * 1.5)) {
    const job = await call(readJob({ path: { id }, signal }));
    onProgress?.(job);
    if (job.status === 'succeeded') return job;
    if (job.status === 'failed' || job.status === 'cancelled')
      throw new ApiError(0, {
        code: 'job_failed',
        detail: job.error?.message ?? `The job was ${job.status}.`,
        job,
      });
    await pause(delay, signal);
  }
}
