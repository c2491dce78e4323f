import type { Knex } from 'knex';
import { type Db, embed, inTransaction, query } from '../../../platform/database.ts';
import { recordFile } from '../../kernel/files/files.store.ts';
import { nothingWritten, outcomeOf } from '../../kernel/jobs/jobs.lease.ts';
import type { JobCounts, JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import type { ImportPayload } from './imports.job.ts';
import { countOutcomes, storeReport } from './imports.report.ts';
import { planTable } from './imports.staging.ts';

/** Writes the report of an import whose rows are done, and ends the job. */
export async function finishImport(job: RunningJob<ImportPayload>, services: Services): Promise<JobResult> {
  if (job.payload.atomic) await skipOthers(services.db, job);
  return await inTransaction(services.db, (sql) => endWithReport(sql, job, services));
}

/** If a row of an atomic import has failed, all other rows are skipped. */
async function skipOthers(db: Db, { id, payload }: RunningJob<ImportPayload>): Promise<void> {
  await inTransaction(db, async (sql) => {
    const failed = await sql('import_outcomes').where({ job_id: id, outcome: 'failed' }).first('line');
    if (!failed) return;
    await sql('import_outcomes')
      .where({ job_id: id })
      .whereNot({ outcome: 'failed' })
      .update({ outcome: 'skipped' });
    await query(sql).run`insert into import_outcomes (job_id, line, outcome)
       select job_id, line, 'skipped' from ${embed(planTable[payload.kind])} where job_id = ${id}
       on conflict do nothing`;
  });
}

/** Stores the report as the job's result, in the transaction that ends the job. */
export async function endWithReport(
  sql: Knex.Transaction,
  job: RunningJob<ImportPayload>,
  { blobs }: Services,
): Promise<JobResult> {
  const { payload, ctx } = job;
  const content = await storeReport(sql, blobs, {
    jobId: job.id,
    kind: payload.kind,
    all: payload.report === 'all',
  });
  const counts = await countOutcomes(sql, job.id);
  const moment = new Date();
  const file = await recordFile(sql, content, {
    name: `import-report-${moment.toISOString().slice(0, 19).replaceAll(':', '-')}.ndjson`,
    mediaType: 'application/x-ndjson',
    ownerId: ctx.caller.userId,
    // Errors contain no values.
    withCosts: false,
    needs: [],
    // Deleted with its job.
    expiresAt: null,
  });
  const error = payload.atomic && counts.failed! > 0 ? nothingWritten(counts) : undefined;
  const failed = outcomeOf({ counts, ...(error ? { error } : {}) }).status === 'failed';
  // A failed import can be retried.
  if (!failed) await sql('files').where({ id: payload.file_id }).update({ expires_at: moment });
  const result: JobResult = {
    fileId: file.id,
    message: messageOf(payload, counts),
    counts,
    ...(error ? { error } : {}),
    result: {
      kind: payload.kind,
      mode: payload.mode,
      dry_run: payload.dry_run,
      atomic: payload.atomic,
      written: !payload.dry_run && !failed,
      report: { name: file.name, size: file.size, sha256: file.sha256 },
    },
  };
  await job.finish({ sql }, result);
  return result;
}

function messageOf({ dry_run, atomic }: ImportPayload, counts: JobCounts): string {
  const { created, updated, unchanged, failed } = counts;
  if (atomic && failed! > 0) return nothingWritten(counts).message;
  const text = `${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`;
  return dry_run ? `Dry run: ${text}` : text;
}
