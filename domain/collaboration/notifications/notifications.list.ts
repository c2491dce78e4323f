import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { hiddenTypes } from './notifications.rules.ts';

const notificationList: ListSpec = {
  name: 'notifications',
  from: 'notifications n left join users a on a.id = n.actor_id',
  id: 'n.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 'n.created_at', type: 'timestamptz', immutable: true },
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
};

/**
 * The caller's own notifications, as conditions on `n`. Those of a card that the caller no longer sees are left out, and
 * those of a kind for which the permission was lost; those of a deleted card stay.
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

const joined = (conditions: Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => `(${sql})`).join(' and '),
  bindings: conditions.flatMap(({ bindings }) => bindings),
});

/** The caller's notifications, newest first. */
export async function listNotifications(
  ctx: Ctx,
  params: ListParams & { is_read?: boolean; type?: string },
): Promise<JsonText> {
  const conditions = ownNotifications(ctx);
  if (params.is_read !== undefined) conditions.push({ sql: 'n.is_read = ?', bindings: [params.is_read] });
  if (params.type !== undefined) {
    conditions.push({
      sql: 'n.type = any(?::text[])',
      bindings: [params.type.split(',').map((type) => type.trim())],
    });
  }
  return await runList(ctx.db, notificationList, conditions, params, { owner: ctx.caller.userId });
}

/** How many notifications the caller has not read. */
export async function countUnread(ctx: Ctx): Promise<number> {
  const own = joined(ownNotifications(ctx));
  const { rows } = await ctx.db.raw(
    `select count(*)::int as count from notifications n where not n.is_read and ${own.sql}`,
    own.bindings as never,
  );
  return rows[0].count;
}

/** One of the caller's notifications. @throws EstateError `not_found`. */
async function notificationText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  const own = joined(ownNotifications(ctx));
  const members = Object.entries(notificationList.members).map(([name, member]) => `'${name}', ${member}`);
  const { rows } = await sql.raw(
    `select json_build_object(${members.join(', ')})::text as item from ${notificationList.from}
     where n.id = ?::uuid and ${own.sql}`,
    [id, ...own.bindings] as never,
  );
  if (!rows[0]) throw notFound('notification', id);
  return rows[0].item;
}

/**
 * Marks one notification as read; one that is read already stays as it is.
 * @throws EstateError `not_found` when it is not the caller's own.
 */
export async function readNotification(ctx: Ctx, id: string): Promise<JsonText> {
  return await command(ctx, async (work) => {
    await notificationText(work.sql, ctx, id);
    await markRead(work, ctx, { sql: 'n.id = ?::uuid', bindings: [id] });
    return await notificationText(work.sql, ctx, id);
  });
}

/** Marks all of the caller's notifications as read. @returns how many were not. */
export async function readAllNotifications(ctx: Ctx): Promise<number> {
  return await command(ctx, (work) => markRead(work, ctx, joined(ownNotifications(ctx))));
}

async function markRead(work: Work, ctx: Ctx, which: Condition): Promise<number> {
  const { rows } = await work.sql.raw(
    `with unread as (
       select n.id from notifications n
       where n.user_id = ?::uuid and n.in_app and not n.is_read and ${which.sql} order by n.id for update
     )
     update notifications n set is_read = true, updated_at = clock_timestamp() from unread where n.id = unread.id
     returning n.id`,
    [ctx.caller.userId, ...which.bindings] as never,
  );
  for (const { id } of rows) {
    work.emit({
      event_type: 'notification.read',
      recipient_id: ctx.caller.userId,
      data: { id, changes: rowChanges({ is_read: false }, { is_read: true }) },
    });
  }
  return rows.length;
}
