import { embed, query } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { digestTexts, type Group } from './notifications.gather.ts';
import type { NotificationRow } from './notifications.model.ts';
import { notificationRules } from './notifications.rules.ts';

/** The number of notifications of one type about one actor within the time below; further events are combined. */
const SINGLE_LIMIT = 5;
const GATHER_MINUTES = 10;

/** A stored notification to which events are added. */
interface Growth {
  before: NotificationRow;
  group: Group;
  more: number;
}

/**
 * Writes notifications: new ones, and stored ones to which events of the same batch, or of an actor with many events in a
 * short time, are added.
 * @param from the position up to which events were processed before.
 */
export async function saveNotifications(work: Work, groups: Group[], from: number): Promise<void> {
  if (groups.length === 0) return;
  const growing = new Map<string, Growth>();
  const fresh = await growBatches(work, groups, from, growing);
  await insertNotifications(work, await growFloods(work, fresh, growing));
  await storeGrowth(work, [...growing.values()]);
}

const keyOf = (userId: string, type: string, by: string | null) => `${userId}/${type}/${by}`;

/** Adds new events to the notifications of their batches. @returns the groups without such a notification. */
async function growBatches(
  work: Work,
  groups: Group[],
  from: number,
  growing: Map<string, Growth>,
): Promise<Group[]> {
  const batches = [...new Set(groups.map(({ batchId }) => batchId).filter((id) => id !== null))];
  if (batches.length === 0) return groups;
  const rows = await query(work.sql).column<NotificationRow>`select to_jsonb(n) as row
    from notifications n where n.batch_id = any(${batches}::uuid[])
    and n.user_id = any(${[...new Set(groups.map(({ userId }) => userId))]}::uuid[])
     order by n.id for update`;
  if (rows.length === 0) return groups;
  const stored = new Map(rows.map((row) => [keyOf(row.user_id, row.type, row.batch_id), row] as const));
  const notified = await notifiedCards(work, groups, from);
  return groups.filter((group) => {
    const before = stored.get(keyOf(group.userId, group.type, group.batchId));
    if (!before) return true;
    const more = [...group.things].filter(
      (thing) => !notified.has(`${group.batchId}/${group.type}/${thing}`),
    ).length;
    if (more > 0) growing.set(before.id, { before, group, more });
    return false;
  });
}

/** The cards about which the batches have notified before, as `<batch>/<type of notification>/<card>`. */
async function notifiedCards({ sql }: Work, groups: Group[], from: number): Promise<Set<string>> {
  const pairs = new Set(
    groups.flatMap(({ batchId, things }) => [...things].map((thing) => `${batchId}/${thing}`)),
  );
  const cards = [...pairs].map((pair) => pair.split('/')).filter(([, thing]) => thing!.includes('-'));
  const rows = await query(sql).rows<{ batch_id: string; card_id: string; event_type: string }>`
       select distinct e.batch_id, e.card_id, e.event_type
     from unnest(${cards.map(([batch]) => batch)}::uuid[],
     ${cards.map(([, card]) => card)}::uuid[]) as v(batch_id, card_id)
     join events e on e.card_id = v.card_id and e.batch_id = v.batch_id
     where e.position <= ${from}::bigint and e.event_type = any(${Object.keys(notificationRules)}::text[])`;
  return new Set(
    rows.flatMap((row) =>
      (notificationRules[row.event_type] ?? []).map(({ type }) => `${row.batch_id}/${type}/${row.card_id}`),
    ),
  );
}

/**
 * Combines further events of an actor in one notification after {@link SINGLE_LIMIT} recent ones of the same type.
 * @returns the groups that become notifications of their own.
 */
async function growFloods({ sql }: Work, groups: Group[], growing: Map<string, Growth>): Promise<Fresh[]> {
  if (groups.length === 0) return [];
  const floods = new Map<string, Flood & { open?: Fresh }>();
  const distinct = new Map(groups.map((group) => [keyOf(group.userId, group.type, group.actorId), group]));
  const asked = [...distinct.values()];
  const rows = await query(sql).rows<
    Flood & { user_id: string; type: string; actor_id: string | null }
  >`select v.user_id, v.type, v.actor_id,
       (select count(*)::int from notifications n
        where n.user_id = v.user_id and n.type = v.type and n.actor_id is not distinct from v.actor_id
          and n.created_at > now() - make_interval(mins => ${embed(GATHER_MINUTES)})) as recent,
       (select to_jsonb(n) from notifications n
        where n.user_id = v.user_id and n.type = v.type and n.actor_id is not distinct from v.actor_id
          and n.gathers_until > now() and not n.is_read
          and n.created_at > now() - make_interval(mins => ${embed(GATHER_MINUTES)})
        order by n.created_at desc limit 1) as digest
     from unnest(${asked.map(({ userId }) => userId)}::uuid[], ${asked.map(({ type }) => type)}::text[],
     ${asked.map(({ actorId }) => actorId)}::uuid[]) as v(user_id, type, actor_id)`;
  for (const { user_id, type, actor_id, ...flood } of rows) floods.set(keyOf(user_id, type, actor_id), flood);

  const fresh: Fresh[] = [];
  for (const group of groups) {
    const flood = floods.get(keyOf(group.userId, group.type, group.actorId))!;
    if (flood.recent < SINGLE_LIMIT) {
      flood.recent += 1;
      fresh.push({ group, count: group.things.size, gathers: false });
    } else if (flood.digest) {
      const known = growing.get(flood.digest.id);
      const grown = { before: flood.digest, group, more: (known?.more ?? 0) + group.things.size };
      growing.set(flood.digest.id, grown);
    } else if (flood.open) {
      flood.open.count += group.things.size;
    } else {
      flood.open = { group, count: group.things.size, gathers: true };
      fresh.push(flood.open);
    }
  }
  return fresh;
}

/** The recent notifications of one type about one actor, and the one that combines further events. */
interface Flood {
  recent: number;
  digest: NotificationRow | null;
}

/** A notification to be inserted. */
interface Fresh {
  group: Group;
  count: number;
  /** Whether it belongs to no batch, and combines events that follow soon. */
  gathers: boolean;
}

async function insertNotifications(work: Work, fresh: Fresh[]): Promise<void> {
  if (fresh.length === 0) return;
  const rows = fresh.map(({ group, count, gathers }) => ({
    user_id: group.userId,
    type: group.type,
    actor_id: group.actorId,
    event_position: group.position,
    batch_id: gathers ? null : group.batchId,
    count,
    gathers,
    in_app: group.inApp,
    mail_pending: group.email,
    chat_pending: group.chat,
    ...(count === 1
      ? { title: group.title, message: group.message, link: group.link, card_id: group.cardId }
      : { ...digestTexts(group.rule, count, group.actor), link: null, card_id: null }),
  }));
  const inserted = await query(work.sql).column<NotificationRow>`insert into notifications (user_id,
    type, title, message, link, card_id, actor_id, event_position,
                                batch_id, count, gathers_until, in_app, mail_pending, chat_pending)
     select user_id, type, title, message, link, card_id, actor_id, event_position, batch_id, count,
            case when gathers then now() + make_interval(mins => ${embed(GATHER_MINUTES)}) end, in_app,
            mail_pending, chat_pending
     from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as v(user_id uuid, type text, title text,
     message text, link text,
       card_id uuid, actor_id uuid, event_position bigint, batch_id uuid, count int, gathers boolean,
       in_app boolean, mail_pending boolean, chat_pending boolean)
     returning to_jsonb(notifications) as row`;
  for (const row of inserted) emitNotification(work, 'notification.created', null, row);
}

async function storeGrowth(work: Work, growth: Growth[]): Promise<void> {
  if (growth.length === 0) return;
  const rows = growth.map(({ before, group, more }) => ({
    id: before.id,
    count: before.count + more,
    in_app: group.inApp,
    mail_pending: group.email,
    chat_pending: group.chat,
    ...digestTexts(group.rule, before.count + more, group.actor),
  }));
  const grown = await query(work.sql).column<NotificationRow>`update notifications n
    set count = v.count, title = v.title, message = v.message, link = null, card_id = null,
       is_read = false, in_app = n.in_app or v.in_app, mail_pending = n.mail_pending or v.mail_pending,
       chat_pending = n.chat_pending or v.chat_pending,
       updated_at = clock_timestamp()
     from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as v(id uuid, count int, title text,
     message text,
       in_app boolean, mail_pending boolean, chat_pending boolean)
     where n.id = v.id returning to_jsonb(n) as row`;
  const before = new Map(growth.map((entry) => [entry.before.id, entry.before]));
  for (const row of grown) emitNotification(work, 'notification.updated', before.get(row.id)!, row);
}

/** Emits the event for the streams of the user; notifications that are only mailed have none. */
function emitNotification(
  work: Work,
  event_type: 'notification.created' | 'notification.updated',
  before: NotificationRow | null,
  after: NotificationRow,
): void {
  if (!after.in_app) return;
  const { id, user_id, type, title, message, link, actor_id } = after;
  const data = { id, user_id, type, title, message, link, actor_id, changes: rowChanges(before, after) };
  work.emit({ event_type, recipient_id: user_id, data });
}
