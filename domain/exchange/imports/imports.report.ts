import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import type { BlobStore } from '../../../platform/blobs.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { recordFile, storeContent } from '../../kernel/files/files.store.ts';
import { outcomeOf } from '../../kernel/jobs/jobs.lease.ts';
import type { JobCounts, JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { rowsTable } from './imports.cards.stage.ts';
import type { ImportKind } from './imports.row.ts';

const PAGE = 5_000;

/**
 * The outcomes of the rows as NDJSON, in the order of the file: `line, external_id, outcome, errors`; only failed rows,
 * unless `all`.
 */
export async function* reportLines(
  sql: Sql,
  { jobId, kind, all }: { jobId: string; kind: ImportKind; all: boolean },
): AsyncGenerator<string> {
  const externalId = kind === 'cards' ? 'r.external_id' : 'null';
  for (let line = 0; ; ) {
    const rows = await query(sql).rows`select o.line, json_build_object('line', o.line, 'external_id',
      ${embed(externalId)}, 'outcome', o.outcome, 'errors', coalesce(o.errors, '[]'))::text as text
       from import_outcomes o join ${embed(rowsTable[kind])} r on r.job_id = o.job_id and r.line = o.line
       where o.job_id = ${jobId} and o.line > ${line} ${embed(all ? '' : "and o.outcome = 'failed'")}
       order by o.line limit ${embed(PAGE)}`;
    if (rows.length === 0) return;
    yield rows.map((row: { text: string }) => `${row.text}\n`).join('');
    line = rows.at(-1).line;
  }
}

/** What an import ends with. */
interface ImportEnd {
  /** The format in the name of the report. */
  name: string;
  report: AsyncIterable<string> | Iterable<string>;
  counts: JobCounts;
  /** Why the import has failed as a whole. */
  error?: JobResult['error'];
  /** Further members of the job's result. */
  facts: Record<string, unknown>;
}

/** Stores the report of an import as the job's result, in the transaction that ends the job. */
export async function endImport(
  sql: Knex.Transaction,
  job: RunningJob<{ file_id: string; mode: string; dry_run: boolean }>,
  blobs: BlobStore,
  { name, report, counts, error, facts }: ImportEnd,
): Promise<JobResult> {
  const { payload, ctx } = job;
  const content = await storeContent(blobs, Readable.from(report));
  const endedAt = new Date();
  const file = await recordFile(sql, content, {
    name: `${name}-report-${endedAt.toISOString().slice(0, 19).replaceAll(':', '-')}.ndjson`,
    mediaType: 'application/x-ndjson',
    ownerId: ctx.caller.userId,
    // Errors contain no values.
    withCosts: false,
    needs: [],
    // Deleted with its job.
    expiresAt: null,
  });
  const isFailed = outcomeOf({ counts, error }).status === 'failed';
  // A failed import can be retried.
  if (!isFailed) await sql('files').where({ id: payload.file_id }).update({ expires_at: endedAt });
  const { created, updated, unchanged, failed } = counts;
  const summary = `${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`;
  const result: JobResult = {
    fileId: file.id,
    message: error?.message ?? (payload.dry_run ? `Dry run: ${summary}` : summary),
    counts,
    ...(error ? { error } : {}),
    result: {
      ...facts,
      mode: payload.mode,
      dry_run: payload.dry_run,
      written: !payload.dry_run && !isFailed,
      report: { name: file.name, size: file.size, sha256: file.sha256 },
    },
  };
  await job.finish({ sql }, result);
  return result;
}

/** Number of rows by outcome, without those that an atomic import has skipped. */
export async function countOutcomes(sql: Sql, jobId: string): Promise<JobCounts> {
  const counts: JobCounts = { total: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  const rows = await query(sql).rows`select outcome, count(*)::int as n from import_outcomes
    where job_id = ${jobId} group by outcome`;
  for (const { outcome, n } of rows) {
    counts.total! += n;
    if (outcome !== 'skipped') counts[outcome] = n;
  }
  return counts;
}
