import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnSorts, count, readItem } from '../../kernel/lists/lists.run.ts';
import { whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { OptionalFlag, OptionalText } from '../../kernel/shapes.ts';
import { Notification } from './notifications.model.ts';
import { hiddenTypes } from './notifications.rules.ts';

/** The caller's notifications, newest first. */
export const notificationList = defineList({
  name: 'notifications',
  filters: {
    is_read: OptionalFlag('Only read or only unread ones'),
    type: OptionalText(1000, 'Comma-separated types'),
  },
  from: 'notifications n left join users a on a.id = n.actor_id',
  id: 'n.id',
  sorts: {
    ...columnSorts('n', Notification, 'created_at'),
    type: { sql: 'n.type', type: 'text', immutable: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: "fold(n.title || ' ' || n.message)",
  members: {
    id: 'n.id',
    user_id: 'n.user_id',
    type: 'n.type',
    title: 'n.title',
    message: 'n.message',
    link: 'n.link',
    is_read: 'n.is_read',
    data: "json_build_object('count', n.count, 'batch_id', n.batch_id)",
    card_id: 'n.card_id',
    actor_id: 'n.actor_id',
    actor_name: 'a.display_name',
    created_at: 'utc(n.created_at)',
  },
  where(ctx, params) {
    const conditions = ownNotifications(ctx);
    if (params.is_read !== undefined) conditions.push(fragment`n.is_read = ${params.is_read}`);
    if (params.type !== undefined) {
      conditions.push(fragment`n.type = any(${params.type.split(',').map((type) => type.trim())}::text[])`);
    }
    return conditions;
  },
});

/**
 * The caller's own notifications, as conditions on `n`, without those of cards that the caller no longer sees and of types
 * for which the caller no longer has the permission. Those of deleted cards are included.
 */
function ownNotifications(ctx: Ctx): Condition[] {
  const visible = visibleCards(ctx);
  return [
    { sql: 'n.user_id = ?::uuid and n.in_app', bindings: [ctx.caller.userId], visibility: true },
    {
      sql: `not exists (select from cards c where c.id = n.card_id and not (${visible.sql}))`,
      bindings: visible.bindings,
      visibility: true,
    },
    {
      sql: 'n.type <> all(?::text[])',
      bindings: [hiddenTypes((permission) => may(ctx.caller, permission))],
      visibility: true,
    },
  ];
}

/** The number of the caller's unread notifications. */
export async function countUnread(ctx: Ctx): Promise<number> {
  const where = [...ownNotifications(ctx), fragment`not n.is_read`];
  return await count({ sql: ctx.db, spec: notificationList, where });
}

/** One of the caller's notifications. @throws EstateError `not_found`. */
async function notificationText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  return await readItem(sql, notificationList, 'notification', id, ownNotifications(ctx));
}

/**
 * Marks one notification as read.
 * @throws EstateError `not_found` when it is not the caller's own.
 */
export async function readNotification(ctx: Ctx, id: string): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await notificationText(work.sql, ctx, id);
    await markRead(work, ctx, [fragment`n.id = ${id}::uuid`]);
    return await notificationText(work.sql, ctx, id);
  });
}

/** Marks all of the caller's notifications as read. @returns how many were unread. */
export async function readAllNotifications(ctx: Ctx): Promise<number> {
  return await command(ctx, (work) => markRead(work, ctx, ownNotifications(ctx)));
}

async function markRead(work: Work, ctx: Ctx, which: Condition[]): Promise<number> {
  const own = fragment`n.user_id = ${ctx.caller.userId}::uuid and n.in_app and not n.is_read`;
  const marked = await query(work.sql).rows<{ id: string }>`with unread as (
       select n.id from notifications n${embed(whereClause([own, ...which]))} order by n.id for update
     )
     update notifications n set is_read = true, updated_at = clock_timestamp() from unread
     where n.id = unread.id
     returning n.id`;
  for (const { id } of marked) {
    work.emit({
      event_type: 'notification.read',
      recipient_id: ctx.caller.userId,
      data: { id, changes: rowChanges({ is_read: false }, { is_read: true }) },
    });
  }
  return marked.length;
}
