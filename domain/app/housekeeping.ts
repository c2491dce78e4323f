import type { BlobStore } from '../../platform/blobs.ts';
import { type Db, embed, inTransaction, query, type Sql } from '../../platform/database.ts';
import { CLEANUP_BATCH, type Retention } from '../kernel/extensions.ts';
import type { JobCounts } from '../kernel/jobs/jobs.running.ts';
import { readSetting } from '../kernel/settings/settings.read.ts';
import { extensionList, extensions } from './extensions.ts';

/** Contents without a file are considered abandoned after this time; running uploads and exports are younger. */
const ABANDONED_HOURS = 24;

/** Finished jobs after the retention of the settings, or an earlier one of their kind; their results expire with them. */
async function removeJobs(sql: Sql, { jobs_days }: Retention): Promise<number> {
  const kinds = extensions.jobs.map(({ kind }) => kind);
  const days = extensions.jobs.map(({ retentionDays }) => retentionDays ?? null);
  return await query(sql).value`with kept as (select *
    from unnest(${kinds}::text[], ${days}::int[]) as k(kind, days)),
     gone as (
       delete from jobs where id in (
         select j.id from jobs j left join kept using (kind)
         where j.finished_at < now() - make_interval(days => least(kept.days, ${jobs_days}))
         limit ${embed(CLEANUP_BATCH)}
       ) returning result_file_id
     ),
     orphans as (
       update files set expires_at = now() from gone where files.id = gone.result_file_id
     )
     select count(*)::int as n from gone`;
}

/** Deletes expired files with their contents. The row is deleted first: a content without a row is found below. */
async function removeFiles(db: Db, blobs: BlobStore): Promise<number> {
  const rows = await query(db).rows`delete from files where id in (select id from files
    where expires_at < now() limit ${embed(CLEANUP_BATCH)}) returning id`;
  for (const { id } of rows) await blobs.remove(id);
  return rows.length;
}

/** Deletes contents that no file references and that are not being written. */
async function removeAbandoned(db: Db, blobs: BlobStore, signal: AbortSignal): Promise<number> {
  const before = new Date(Date.now() - ABANDONED_HOURS * 3_600_000);
  let removed = 0;
  let batch: string[] = [];
  const flush = async () => {
    const known = new Set(await db('files').whereIn('id', batch).pluck('id'));
    for (const id of batch) {
      if (known.has(id)) continue;
      await blobs.remove(id);
      removed += 1;
    }
    batch = [];
  };
  for await (const id of blobs.olderThan(before)) {
    signal.throwIfAborted();
    batch.push(id);
    if (batch.length >= 500) await flush();
  }
  await flush();
  return removed;
}

/**
 * Deletes expired data in batches, so that locks are short.
 * @returns the number of deleted rows of each kind.
 */
export async function cleanUp(db: Db, blobs: BlobStore, signal: AbortSignal): Promise<JobCounts> {
  const counts: JobCounts = {};
  const repeat = async (name: string, cleanup: () => Promise<number>) => {
    counts[name] = 0;
    for (;;) {
      signal.throwIfAborted();
      const removed = await cleanup();
      if (removed === 0) return;
      counts[name] += removed;
    }
  };
  const retention = await readSetting(db, 'retention');
  const cleanups = extensionList.flatMap((extension) => Object.entries(extension.cleanups ?? {}));
  for (const [name, cleanup] of [...cleanups, ['jobs', removeJobs] as const]) {
    await repeat(name, () => inTransaction(db, (sql) => cleanup(sql, retention)));
  }
  await repeat('files', () => removeFiles(db, blobs));
  counts.contents = await removeAbandoned(db, blobs, signal);
  return counts;
}
