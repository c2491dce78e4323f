import type { JobCounts, JobResult } from './jobs.running.ts';

/** Whether a job that succeeded did all that it was asked for, or failed some of its rows. */
const jobOutcomes = ['complete', 'partial'] as const;

/** How a job ends whose processor has returned a result. */
export type JobEnd =
  | { status: 'succeeded'; outcome: (typeof jobOutcomes)[number]; error: null }
  | { status: 'failed'; outcome: null; error: { code: string; message: string } };

/**
 * The one rule for all kinds of jobs: a job fails if it says so, or if each of its rows has failed; one of which some rows
 * failed, or that left out something it was given, is partial. Rows are counted by `total` and `failed`; kinds without rows
 * have neither. `left_out` counts what was not taken over and is no row of the job.
 */
export function outcomeOf({ counts, error }: JobResult): JobEnd {
  if (error) return { status: 'failed', outcome: null, error };
  const { total = 0, failed = 0, left_out = 0 } = counts ?? {};
  if (failed > 0 && failed === total) return { status: 'failed', outcome: null, error: allFailed(total) };
  return { status: 'succeeded', outcome: failed + left_out > 0 ? 'partial' : 'complete', error: null };
}

/** The error of a job that wrote nothing since rows of it failed. */
export function nothingWritten({ total, failed }: JobCounts): { code: string; message: string } {
  return { code: 'nothing_written', message: `Nothing was written: ${failed} of ${total} rows failed` };
}

const allFailed = (total: number) => ({
  code: 'nothing_written',
  message: total === 1 ? 'The only row failed' : `Each of the ${total} rows failed`,
});
