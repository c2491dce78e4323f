import type { Sql } from '../../../platform/database.ts';

/** The sync state of a mapping without its pairs: where the next runs resume reading. Timestamps are RFC 3339. */
export interface SyncStateRow {
  /** Up to where records and relations of the remote were read, by its clock. */
  watermark: string | null;
  links_watermark: string | null;
  /** Up to where the change feed was read. */
  local_position: string | null;
  /** Records to read again although they have not changed. */
  again: string[];
  complete_read_at: string | null;
  /** The same for runs in one direction of a mapping that goes both ways. */
  pulled_read_at: string | null;
  pushed_read_at: string | null;
  pulled_position: string | null;
  pushed_watermark: string | null;
}

const columns = `utc(watermark) as watermark, utc(links_watermark) as links_watermark,
  local_position::text as local_position, again, utc(complete_read_at) as complete_read_at,
  utc(pulled_read_at) as pulled_read_at, utc(pushed_read_at) as pushed_read_at,
  pulled_position::text as pulled_position, utc(pushed_watermark) as pushed_watermark`;

/** The sync state of a mapping; all null when it has never run. */
export async function readSyncState(sql: Sql, mappingId: string): Promise<SyncStateRow> {
  const { rows } = await sql.raw(
    `select ${columns} from (select) one left join itsm_sync_states on mapping_id = ?`,
    [mappingId],
  );
  return { ...rows[0], again: rows[0].again ?? [] };
}

/** Locks the sync state of a mapping until the transaction ends. Take it before locking cards. */
export async function lockSyncState(sql: Sql, mappingId: string): Promise<SyncStateRow> {
  await sql.raw('insert into itsm_sync_states (mapping_id) values (?) on conflict do nothing', [mappingId]);
  const { rows } = await sql.raw(
    `select ${columns} from itsm_sync_states where mapping_id = ? for no key update`,
    [mappingId],
  );
  return rows[0];
}

/** Has the next run read these records again. */
export async function readAgainNext(
  sql: Sql,
  mappingId: string,
  remoteIds: readonly string[],
): Promise<void> {
  await sql.raw(
    'update itsm_sync_states set again = array(select distinct unnest(again || ?::text[])) where mapping_id = ?',
    [remoteIds, mappingId],
  );
}

/**
 * Whether the last full read was made by a push run. Such a run skips records without a card and stores nothing about
 * them.
 */
export const hasPushedLast = ({
  complete_read_at,
  pushed_read_at,
}: Pick<SyncStateRow, 'complete_read_at' | 'pushed_read_at'>): boolean =>
  pushed_read_at !== null && (complete_read_at === null || complete_read_at < pushed_read_at);

/** An SQL expression of {@link hasPushedLast} over a sync state `b`. */
const pushedLast =
  "coalesce(b.pushed_read_at > coalesce(b.complete_read_at, timestamptz '-infinity'), false)";

/**
 * Cards without a record that may get one now: new ones, those that were changed after the remote refused them, and those whose
 * record a person rejected in the last run. When earlier runs skipped records without a card, only a full read tells whether one
 * of those records belongs to such a card.
 */
const newCards = `(exists (
  select from events e join cards c on c.id = e.card_id and c.type = m.card_type_key and c.status = 'ACTIVE'
  where e.position > b.local_position and e.card_type = m.card_type_key
    and (e.event_type in ('card.created', 'card.restored') or exists (
      select from itsm_plan_rows r join itsm_runs u on u.id = r.run_id and u.mapping_id = m.id
      where r.card_id = c.id and r.action = 'create' and r.side = 'remote' and r.progress = 'refused'))
    and not exists (select from itsm_pairs p where p.mapping_id = m.id and p.card_id = c.id))
  or exists (
    select from itsm_plan_rows r join cards c on c.id = r.card_id and c.status = 'ACTIVE'
    where r.run_id = (select u.id from itsm_runs u where u.mapping_id = m.id and u.status = 'completed'
        order by u.created_at desc limit 1)
      and r.action = 'create' and r.side = 'remote' and r.approval = 'rejected'
      and not exists (select from itsm_pairs p where p.mapping_id = m.id and p.card_id = c.id)))`;

const isFresh = (readAt: string): string =>
  `coalesce(${readAt} >= now() - make_interval(hours => m.complete_every_hours), false)`;

/**
 * An SQL expression over a mapping `m` and its sync state `b`: whether a run needs a full read. Runs in one direction also
 * use what runs in both directions have read.
 * @param direction an SQL expression for the direction of the run.
 */
export const needsFullRead = (direction: string): string => `coalesce(case
  when ${direction} = m.sync_direction then b.watermark is null or b.local_position is null
    or not ${isFresh('b.complete_read_at')} or (m.sync_direction = 'push' and ${newCards})
  when ${direction} = 'pull' then b.watermark is null
    or not ${isFresh('greatest(b.complete_read_at, b.pulled_read_at)')}
  when ${pushedLast} then b.pushed_watermark is null or b.local_position is null
    or not ${isFresh('b.pushed_read_at')} or ${newCards}
  else b.watermark is null or b.local_position is null or not ${isFresh('b.complete_read_at')} end, true)`;
