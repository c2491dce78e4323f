import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { recordFile } from '../../../domain/kernel/files/files.store.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { inTransaction } from '../../../platform/database.ts';
import { makeExport } from './exports.make.ts';
import { manifestOf } from './extraction.manifest.ts';
import { exportName } from './extraction.names.ts';

/** Writes the file of an export job from one snapshot and makes it the job's result, and its manifest. */
export async function runExport(job: RunningJob<ExportRequest>, services: Services): Promise<JobResult> {
  const { ctx, payload: request } = job;
  const { content, facts, written, rows } = await makeExport(services, ctx, request, {
    signal: job.signal,
    onRows: (soFar, share) => job.progress(share, `${soFar} rows`, { rows: soFar }),
  });
  return await inTransaction(services.db, async (sql) => {
    // goes with its job
    const file = await recordFile(sql, content, { ...facts, name: exportName(request, new Date()) });
    const done: JobResult = {
      fileId: file.id,
      message: `${rows} rows`,
      counts: { rows, total: rows },
      result: { ...manifestOf(written, file) },
    };
    await job.finish({ sql }, done);
    return done;
  });
}
