import { embed, query } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import type { Work } from '../../kernel/context.ts';
import type { FeedRow } from '../../kernel/events/feed.read.ts';
import { type Services, systemContext } from '../../kernel/services.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';
import { mailDueNotifications, sqlMailDue } from './notifications.digest.ts';
import { collectReferences, deriveNotifications, readPeople } from './notifications.gather.ts';
import { notificationRules } from './notifications.rules.ts';
import { saveNotifications } from './notifications.write.ts';

/** The name of its row in `feed_followers`. */
const FOLLOWER = 'notifications';
/** Events that one transaction processes. */
const BATCH = 1_000;

/** Event types that notify stakeholders only; such events of cards without stakeholders are not read. */
const forFollowers = Object.keys(notificationRules).filter((type) =>
  notificationRules[type]!.every(({ to }) => to === 'followers'),
);
const forOthers = Object.keys(notificationRules).filter((type) => !forFollowers.includes(type));

/**
 * Creates notifications for new events of the feed, and mails for notifications that are due. The position in the feed is
 * updated in the same transaction by one process at a time, so that each event is processed once, whichever process is killed.
 * @returns when there is nothing left to do, or another process does it.
 */
export async function followFeed(services: Services, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await isBehind(services))) {
    const ctx = await systemContext(services, 'notifications');
    const hasLock = await command(ctx, async (work) => {
      const position = await lockPosition(work);
      if (position === undefined) return false;
      const { events, next } = await readEvents(work, position);
      await notify(work, events, position);
      // the next iteration may still add events to notifications
      if (events.length < BATCH) await mailDueNotifications(work, ctx);
      if (next > position) await savePosition(work, next);
      return true;
    });
    if (!hasLock) return;
  }
}

async function isBehind({ db }: Services): Promise<boolean> {
  const minutes = await readSetting(db, 'notification_digest_minutes');
  const rows = await query(db).rows`select f.position < coalesce((select max(position) from events), 0)
    or exists (${embed({ sql: sqlMailDue('n.id'), bindings: [minutes] })}) as behind
     from feed_followers f where f.name = ${FOLLOWER}`;
  return rows[0]?.behind ?? false;
}

async function lockPosition({ sql }: Work): Promise<number | undefined> {
  const row = await sql('feed_followers')
    .where({ name: FOLLOWER })
    .forUpdate()
    .skipLocked()
    .first('position');
  return row?.position;
}

async function savePosition({ sql }: Work, position: number): Promise<void> {
  await sql('feed_followers').where({ name: FOLLOWER }).update({ position, updated_at: sql.fn.now() });
}

/** The next events that may have recipients, and the position up to which there are no others. */
async function readEvents({ sql }: Work, after: number): Promise<{ events: FeedRow[]; next: number }> {
  // positions grow in commit order: events committed after this statement have higher positions
  const ends = await query(sql).rows`select coalesce(max(position), 0) as newest from events`;
  const newest: number = ends[0].newest;
  const rows = await query(sql).rows`select e.position, e.event_type, e.scope, utc(e.at) as at, e.user_id,
    u.display_name as user_display_name,
            e.recipient_id, e.card_id, e.card_type, e.peer_card_id, e.peer_card_type, e.relation_id,
            e.batch_id,
            e.cost_keys, e.data
     from events e left join users u on u.id = e.user_id
     where e.position > ${after} and e.position <= ${newest}
       and (e.event_type = any(${forOthers}::text[])
            or (e.event_type = any(${forFollowers}::text[]) and exists (select from stakeholders s
            where s.card_id = e.card_id)))
     order by e.position limit ${BATCH}`;
  return { events: rows, next: rows.length < BATCH ? newest : rows.at(-1).position };
}

async function notify(work: Work, events: FeedRow[], from: number): Promise<void> {
  if (events.length === 0) return;
  const { users, cards } = collectReferences(events);
  const people = await readPeople(work.sql, cards, users);
  const dateFormat = await readSetting(work.sql, 'date_format');
  const groups = deriveNotifications(events, { metamodel: work.metamodel, people, dateFormat });
  await saveNotifications(work, groups, from);
}
