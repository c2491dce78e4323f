import { ApiError, call, type ImportRow, type Job, listImportRows, startImport, waitForJob } from '#client';
import type { Kind } from './import.search.ts';

export interface ImportOptions {
  kind: Kind;
  mode: 'create' | 'upsert';
  empty: 'leave' | 'clear';
  atomic: boolean;
  /** Of cards. */
  create_tags?: boolean;
}

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Rows of one page of a report. */
const PAGE = 100;

/**
 * Imports a text of CSV, or a workbook as it is, or tries it.
 * @param onProgress gets 0 to 1.
 * @throws ApiError if it is refused or has failed, but for a file of which every row was refused.
 */
export async function runImport(
  content: string | File,
  options: ImportOptions,
  isDry: boolean,
  onProgress: (progress: number) => void,
): Promise<Job> {
  const { job_id } = await call(
    startImport({
      query: {
        ...options,
        ...{ dry_run: isDry, report: 'changes' },
        ...(typeof content === 'string' && { separator: 'comma' }),
      },
      // the generated client knows texts alone
      body: content as string,
      ...(typeof content !== 'string' && { bodySerializer: null, headers: { 'Content-Type': XLSX } }),
    }),
  );
  try {
    return await waitForJob(job_id, { onProgress: ({ progress }) => onProgress(progress) });
  } catch (error) {
    const job = error instanceof ApiError ? (error.problem.job as Job | undefined) : undefined;
    if (job?.error?.code === 'nothing_written') return job;
    // its message names the sheet and the columns
    if (job?.error?.code === 'validation_failed') throw new Error(job.error.message);
    throw error;
  }
}

export type Outcome = ImportRow['outcome'];

/** A page of the rows of an import's report. */
export const readRows = (job: string, outcome: Outcome, cursor: string, signal: AbortSignal) =>
  call(
    listImportRows({
      signal,
      path: { id: job },
      query: { outcome, page_size: PAGE, ...(cursor && { cursor }) },
    }),
  );
