import type { Knex } from 'knex';
import { recordEvents } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { SCHEDULES_CHANNEL } from '../../../domain/kernel/jobs/schedules.fire.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import type { EstateError } from '../../../platform/errors.ts';
import type { ExtractionRun } from './extraction-runs.store.ts';
import type { StoredDestination } from './extraction-schedules.types.ts';

/**
 * Records a run as succeeded, in the transaction that ends its job. If failures were reported, the recovery is reported too.
 * @param refused recipients who may not receive files any more.
 */
export async function succeedRun(
  sql: Knex.Transaction,
  ctx: Ctx,
  run: ExtractionRun,
  refused: string[],
): Promise<void> {
  const error = refused.length > 0 ? JSON.stringify(notSent(refused)) : null;
  const rows = await query(sql)
    .rows`update extraction_runs set status = 'succeeded', finished_at = now(), error = ${error}::jsonb where id = ${run.id}
     returning rows, bytes, sha256, position::text as position`;
  // a run that began before the last change of the schedule must not advance the position of the current request
  await query(sql)
    .run`update extraction_schedules e set position = greatest(e.position, r.position) from extraction_runs r
     where r.id = ${run.id} and e.id = r.schedule_id and e.updated_at <= r.started_at`;
  const notified = await query(sql)
    .rows`update extraction_schedules set failure_notified_at = null where id = ${run.schedule_id} and failure_notified_at is not null returning id`;
  const recovery = notified[0]
    ? { name: run.schedule_name, recipients: await readRecipients(sql, run.owner_id) }
    : undefined;
  const data = { ...facts(run), ...rows[0], ...recovery };
  await recordEvents(sql, ctx, [{ event_type: 'extraction_run.succeeded', user_id: null, data }], []);
}

/**
 * Records that a run has finally failed, and notifies the owner (or, without an active owner, administrators): at the
 * first failure, when it pauses the schedule, and otherwise at most once a day.
 * @param pause pauses the schedule until somebody activates it again.
 */
export async function failRun(
  sql: Knex.Transaction,
  ctx: Ctx,
  run: ExtractionRun,
  error: EstateError,
  pause: boolean,
): Promise<void> {
  const runError = { code: error.code, message: error.message };
  await sql('extraction_runs')
    .where({ id: run.id })
    .update({ status: 'failed', finished_at: sql.fn.now(), error: JSON.stringify(runError) });
  let paused = false;
  if (pause) {
    const rows = await query(sql)
      .rows`update job_schedules s set enabled = false, updated_at = now() from extraction_schedules e
       where e.id = ${run.schedule_id} and s.key = e.schedule_key and s.enabled returning pg_notify(${SCHEDULES_CHANNEL}, '')`;
    paused = rows.length > 0;
  }
  if (paused) {
    await sql('extraction_schedules').where({ id: run.schedule_id }).update({ paused_reason: error.message });
  }
  const due = await query(sql).rows`update extraction_schedules set failure_notified_at = now()
     where id = ${run.schedule_id} and (${paused} or failure_notified_at is null or failure_notified_at <= now() - interval '1 day') returning id`;
  const events = [
    {
      event_type: 'extraction_run.failed' as const,
      user_id: null,
      data: {
        ...facts(run),
        name: run.schedule_name,
        reason: error.message,
        code: error.code,
        paused,
        recipients: due[0] ? await readRecipients(sql, run.owner_id) : [],
      },
    },
    ...(paused
      ? [
          {
            event_type: 'extraction_schedule.paused' as const,
            user_id: null,
            data: {
              id: run.schedule_id,
              changes: {
                status: { old: 'active', new: 'paused' },
                paused_reason: { old: null, new: error.message },
              },
            },
          },
        ]
      : []),
  ];
  await recordEvents(sql, ctx, events, []);
}

const notSent = (refused: string[]) => ({
  code: 'refused_address',
  message: `Not sent to ${refused.join(', ')}: no active user, and in no domain of the setting mail-recipients.`,
});

const facts = (run: ExtractionRun) => ({
  id: run.id,
  schedule_id: run.schedule_id,
  slot: run.slot.toISOString(),
  ...(run.report && { saved_report_id: run.report.saved_report_id }),
});

/** Ids of the users to notify: the owner, the owner of a service account, or else up to 20 administrators. */
async function readRecipients(sql: Knex.Transaction, ownerId: string | null): Promise<string[]> {
  const owners = await query(sql)
    .rows`select p.id from users u join users p on p.id = case u.kind when 'service' then u.owner_id else u.id end
     where u.id = ${ownerId} and p.is_active`;
  if (owners[0]) return [owners[0].id];
  const rows = await query(sql).rows`select u.id from users u join roles r on r.key = u.role
     where u.is_active and u.kind <> 'service' and not r.is_archived
       and (r.permissions ->> '*' = 'true' or r.permissions ->> 'admin.settings' = 'true')
     order by u.id limit 20`;
  return rows.map(({ id }: { id: string }) => id);
}

/** How long finished runs are stored, as a PostgreSQL interval. */
const HISTORY_DAYS = 400;

/** A run whose files have to be removed. */
export interface OutdatedRun {
  id: string;
  file_id: string | null;
  manifest_id: string | null;
  /** The names of its files. */
  names: string[];
  /** Whether they are at the schedule's current destination. */
  here: boolean;
  schedule: { id: string; destination: StoredDestination; secret: string | null };
}

/**
 * The runs of a schedule beyond `keep_runs` or `keep_days`. The newest succeeded run is retained regardless of its age.
 */
export async function outdatedRuns(sql: Sql, scheduleId: string): Promise<OutdatedRun[]> {
  return await query(sql).rows`with succeeded as (
       select r.*, row_number() over (order by slot desc) as place
       from extraction_runs r where r.schedule_id = ${scheduleId} and r.status = 'succeeded' and r.removed_at is null
     )
     select r.id, r.file_id, r.manifest_id, r.destination = e.destination as here,
       array(select f.name from files f where f.id in (r.file_id, r.manifest_id) order by f.name) as names,
       json_build_object('id', e.id, 'destination', e.destination, 'secret', e.secret) as schedule
     from succeeded r join extraction_schedules e on e.id = r.schedule_id
     where r.place > e.keep_runs
       or (r.place > 1 and r.slot < now() - make_interval(days => e.keep_days))
     order by r.slot limit 1000`;
}

/** Records that a run's delivered files are removed; our own copies expire with the next clean-up. */
export async function recordRemoval(sql: Sql, run: OutdatedRun): Promise<void> {
  await query(sql).run`with removed as (update extraction_runs set removed_at = now() where id = ${run.id})
     update files set expires_at = now() where id in (${run.file_id}, ${run.manifest_id})`;
}

/** Ids of schedules that have files. */
export async function schedulesWithFiles(sql: Sql): Promise<string[]> {
  return await sql('extraction_runs')
    .where({ status: 'succeeded' })
    .whereNull('removed_at')
    .distinct()
    .pluck('schedule_id');
}

/** Deletes runs past the retention. @returns how many. */
export async function removeOldRuns(sql: Sql): Promise<number> {
  return await query(sql).value`with gone as (
       delete from extraction_runs r
       where r.created_at < now() - interval '${embed(HISTORY_DAYS)} days'
         and (r.removed_at is not null or r.status <> 'succeeded')
         and not exists (select from jobs j where j.id = r.job_id and j.status in ('queued', 'running'))
       returning file_id, manifest_id
     ), expired as (
       update files f set expires_at = now() from gone g where f.id in (g.file_id, g.manifest_id)
     ) select count(*)::int as n from gone`;
}
