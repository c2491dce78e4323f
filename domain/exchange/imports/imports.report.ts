import { Readable } from 'node:stream';
import type { BlobStore } from '../../../platform/blobs.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { type StoredContent, storeContent } from '../../kernel/files/files.store.ts';
import type { JobCounts } from '../../kernel/jobs/jobs.running.ts';
import { rowsTable } from './imports.cards.stage.ts';
import type { ImportKind } from './imports.row.ts';

const PAGE = 5_000;

/**
 * Writes the outcomes of the rows as NDJSON, in the order of the file: `line, external_id, outcome, errors`; only
 * failed rows, unless `all`.
 */
export async function storeReport(
  sql: Sql,
  blobs: BlobStore,
  { jobId, kind, all }: { jobId: string; kind: ImportKind; all: boolean },
): Promise<StoredContent> {
  const externalId = kind === 'cards' ? 'r.external_id' : 'null';
  async function* lines() {
    for (let line = 0; ; ) {
      const rows = await query(sql).rows`select o.line, json_build_object('line', o.line, 'external_id',
        ${embed(externalId)}, 'outcome', o.outcome,
           'errors', coalesce(o.errors, '[]'))::text as text
         from import_outcomes o join ${embed(rowsTable[kind])} r on r.job_id = o.job_id and r.line = o.line
         where o.job_id = ${jobId} and o.line > ${line} ${embed(all ? '' : "and o.outcome = 'failed'")}
         order by o.line limit ${embed(PAGE)}`;
      if (rows.length === 0) return;
      yield rows.map((row: { text: string }) => `${row.text}\n`).join('');
      line = rows.at(-1).line;
    }
  }
  return await storeContent(blobs, Readable.from(lines()));
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
