import Type from 'typebox';
import { countBadges } from '../../domain/app/badges.ts';
import {
  countUnread,
  listNotifications,
  notificationFilters,
  notificationSorts,
  readAllNotifications,
  readNotification,
} from '../../domain/collaboration/notifications/notifications.list.ts';
import {
  patchPreferences,
  readPreferences,
} from '../../domain/collaboration/notifications/notifications.preferences.ts';
import { closed } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import examples from '../schemas/collaboration.examples.json' with { type: 'json' };
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/notifications.ts';
import type { App } from '../types.ts';

const tag = 'Notifications';
const permission = 'notifications.manage';

/** The caller's own notifications, and the switches for them. */
export function registerNotificationRoutes(app: App): void {
  app.addSchema(schemas.NotificationSchema);
  app.addSchema(schemas.NotificationItemSchema);
  app.addSchema(schemas.NotificationPreferencesSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/notifications',
    id: 'listNotifications',
    tag,
    summary: 'List own notifications, newest first',
    description: 'The events of one batch are combined in one notification with their number.',
    permission,
    query: listQuery(notificationSorts, 'created_at', notificationFilters),
    answers: {
      200: {
        description: 'Notifications',
        schema: listAnswer(Type.Ref('NotificationItem#')),
        example: { items: [examples.notification], total: 1, page: 1, page_size: 50 },
      },
    },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listNotifications(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/notifications/unread-count',
    id: 'countUnreadNotifications',
    tag,
    summary: 'Count own unread notifications',
    permission,
    answers: {
      200: {
        description: 'The number',
        schema: Type.Object({ count: Type.Integer({ minimum: 0 }) }, closed),
        example: { count: 3 },
      },
    },
    handler: async ({ ctx }) => ({ count: await countUnread(ctx) }),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/notifications/badge-counts',
    id: 'countBadges',
    tag,
    summary: 'Count the caller’s open to-dos and pending surveys',
    permission,
    answers: {
      200: {
        description: 'The numbers',
        schema: Type.Object(
          { open_todos: Type.Integer({ minimum: 0 }), pending_surveys: Type.Integer({ minimum: 0 }) },
          closed,
        ),
        example: { open_todos: 2, pending_surveys: 1 },
      },
    },
    handler: async ({ ctx }) => await countBadges(ctx),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/notifications/:id/read',
    id: 'readNotification',
    tag,
    summary: 'Mark an own notification as read',
    permission,
    params: IdParams,
    answers: {
      200: {
        description: 'The notification',
        schema: Type.Ref('Notification#'),
        example: { ...examples.notification, is_read: true },
      },
    },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readNotification(ctx, params.id)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/notifications/mark-all-read',
    id: 'readAllNotifications',
    tag,
    summary: 'Mark all own notifications as read',
    permission,
    answers: {
      200: {
        description: 'How many were unread',
        schema: Type.Object({ ok: Type.Literal(true), updated: Type.Integer({ minimum: 0 }) }, closed),
        example: { ok: true, updated: 3 },
      },
    },
    handler: async ({ ctx }) => ({ ok: true, updated: await readAllNotifications(ctx) }),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/users/me/notification-preferences',
    id: 'readNotificationPreferences',
    tag,
    summary: 'Read the own notification switches',
    permission: 'login',
    scope: 'account',
    answers: { 200: { description: 'All switches', schema: Type.Ref('NotificationPreferences#') } },
    handler: async ({ ctx, reply }) => sendJson(reply, await readPreferences(ctx)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/users/me/notification-preferences',
    id: 'patchNotificationPreferences',
    tag,
    summary: 'Change own notification switches',
    description: 'Absent switches are not changed; `null` resets all switches of a channel to the defaults.',
    permission: 'login',
    scope: 'account',
    headers: ['If-Match'],
    body: schemas.NotificationPreferencesBody,
    bodyExample: { email: { card_updated: true } },
    answers: { 200: { description: 'All switches', schema: Type.Ref('NotificationPreferences#') } },
    handler: async ({ ctx, body, reply }) => sendResource(reply, await patchPreferences(ctx, body)),
  });
}
