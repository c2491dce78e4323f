import type { BlobStore } from '../../platform/blobs.ts';
import { type Db, inTransaction, type Sql } from '../../platform/database.ts';
import { removeOldAnalyses, removeOldModels } from '../analysis/runs.retention.ts';
import { removeUnusedContents } from '../bpm/contents.store.ts';
import { removeLeftDrawings } from '../diagrams/drawings.store.ts';
import { PURGED_THROUGH } from '../events/changes.ts';
import { removeStale } from '../imports/imports.staging.ts';
import { removeOldRuns } from '../itsm/runs.retention.ts';
import { removeOldMails, removeOldNotifications } from '../notifications/notifications.retention.ts';
import type { SettingValues } from '../settings/settings.defaults.ts';
import { readSetting } from '../settings/settings.read.ts';
import { removeOldTransfers } from '../workspace/transfer.commands.ts';
import { jobCatalogue } from './jobs.catalogue.ts';
import type { JobCounts } from './jobs.running.ts';

/** Contents without a file are taken for abandoned after this time; a running upload or export is younger. */
const ABANDONED_HOURS = 24;
/** Rows removed by one statement. */
const BATCH = 5_000;

type Retention = SettingValues['retention'];

/** One thing that is cleaned up: removes a batch and answers how many rows went. */
type Chore = (sql: Sql, retention: Retention) => Promise<number>;

const chores: Record<string, Chore> = {
  idempotency_keys: expired(
    'idempotency_keys',
    'created_at < now() - make_interval(hours => ?)',
    ({ idempotency_hours }) => idempotency_hours,
  ),
  revoked_tokens: expired('revoked_tokens', 'expires_at < now()'),
  one_time_tokens: expired('one_time_tokens', 'expires_at < now()'),
  throttles: expired('throttles', `window_start < now() - interval '1 hour'`),
  list_snapshots: expired('list_snapshots', `used_at < now() - interval '1 hour'`),
  imports: removeStale,
  jobs: removeJobs,
  events: removeEvents,
  batches: expired(
    'mutation_batches',
    'created_at < now() - make_interval(days => ?)',
    ({ batches_days }) => batches_days,
  ),
  diagram_drawings: (sql, { batches_days }) => removeLeftDrawings(sql, batches_days, BATCH),
  ai_usage: expired('ai_usage', 'day < now() - make_interval(days => ?)', ({ events_days }) => events_days),
  // words of cards that are gone go soon after them
  compliance_readings: expired(
    'compliance_readings',
    'not exists (select from cards c where c.id = compliance_readings.card_id)',
  ),
  analysis_runs: (sql, { analysis_runs_days }) => removeOldAnalyses(sql, analysis_runs_days, BATCH),
  duplicate_models: (sql, { analysis_runs_days }) => removeOldModels(sql, analysis_runs_days, BATCH),
  process_contents: (sql, { batches_days }) => removeUnusedContents(sql, batches_days, BATCH),
  notifications: (sql) => removeOldNotifications(sql, BATCH),
  mails: (sql) => removeOldMails(sql, BATCH),
  workspace_transfers: (sql) => removeOldTransfers(sql, BATCH),
};

/** Removes rows on a condition, which may hold one value of the settings. */
function expired(table: string, condition: string, value?: (retention: Retention) => number): Chore {
  return async (sql, retention) => {
    const { rowCount } = await sql.raw(
      `delete from ${table} where ctid in (select ctid from ${table} where ${condition} limit ${BATCH})`,
      value ? [value(retention)] : [],
    );
    return rowCount as number;
  };
}

/** Finished jobs past the days of the settings, or fewer of their kind; their results expire with them. */
async function removeJobs(sql: Sql, { jobs_days }: Retention): Promise<number> {
  const kinds = jobCatalogue.map(({ kind }) => kind);
  const days = jobCatalogue.map(({ retentionDays }) => retentionDays ?? null);
  const { rows } = await sql.raw(
    `with kept as (select * from unnest(?::text[], ?::int[]) as k(kind, days)),
     gone as (
       delete from jobs where id in (
         select j.id from jobs j left join kept using (kind)
         where j.finished_at < now() - make_interval(days => least(kept.days, ?))
         limit ${BATCH}
       ) returning result_file_id
     ),
     orphans as (
       update files set expires_at = now() from gone where files.id = gone.result_file_id
     )
     select count(*)::int as n from gone`,
    [kinds, days, jobs_days] as never,
  );
  return rows[0].n;
}

/** The feed's oldest events, always a piece from its beginning; readers learn where it begins now. */
async function removeEvents(sql: Sql, { events_days }: Retention): Promise<number> {
  const { rows } = await sql.raw(
    `with cut as (
       select coalesce((select min(position) from events where at >= now() - make_interval(days => ?)),
                       (select max(position) + 1 from events)) as position
     ),
     gone as (
       delete from events where position in (
         select e.position from events e, cut where e.position < cut.position order by e.position limit ${BATCH}
       ) returning position
     ),
     of_cards as (delete from card_old_values where position <= (select max(position) from gone)),
     of_relations as (delete from relation_old_values where position <= (select max(position) from gone)),
     purged as (
       insert into settings (key, value) select '${PURGED_THROUGH}', to_jsonb(max(position)) from gone
       having count(*) > 0
       on conflict (key) do update set value = excluded.value, updated_at = now()
     )
     select count(*)::int as n from gone`,
    [events_days],
  );
  return rows[0].n;
}

/** Expired files with their contents. The row goes first: a content without a row is found again below. */
async function removeFiles(db: Db, blobs: BlobStore): Promise<number> {
  const { rows } = await db.raw(
    `delete from files where id in (select id from files where expires_at < now() limit ${BATCH}) returning id`,
  );
  for (const { id } of rows) await blobs.remove(id);
  return rows.length;
}

/** Contents that no file names and that nobody is still writing. */
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
 * Removes what has expired, batch by batch, so that nothing is locked for long.
 * @returns how much of each went.
 */
export async function cleanUp(db: Db, blobs: BlobStore, signal: AbortSignal): Promise<JobCounts> {
  const counts: JobCounts = {};
  const repeat = async (name: string, chore: () => Promise<number>, batch = BATCH) => {
    counts[name] = 0;
    for (;;) {
      signal.throwIfAborted();
      const removed = await chore();
      counts[name] += removed;
      if (removed < batch) return;
    }
  };
  const retention = await readSetting(db, 'retention');
  for (const [name, chore] of Object.entries(chores)) {
    await repeat(name, () => inTransaction(db, (sql) => chore(sql, retention)));
  }
  const { itsm_runs_days } = retention;
  await repeat('itsm_runs', () => inTransaction(db, (sql) => removeOldRuns(sql, itsm_runs_days)), 1);
  await repeat('files', () => removeFiles(db, blobs));
  counts.contents = await removeAbandoned(db, blobs, signal);
  return counts;
}
