import Type from 'typebox';
import { countBadges } from '../../../domain/app/badges.ts';
import {
  countUnread,
  notificationList,
  readAllNotifications,
  readNotification,
} from '../../../domain/collaboration/notifications/notifications.list.ts';
import { Notification } from '../../../domain/collaboration/notifications/notifications.model.ts';
import {
  notificationTypeKeys,
  notificationTypes,
  patchPreferences,
  readPreferences,
} from '../../../domain/collaboration/notifications/notifications.types.ts';
import { Clearable, Count, component, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const { id, user_id, type, title, message, link, is_read, card_id, actor_id, created_at } =
  Notification.columns;

const members = {
  id,
  user_id,
  type,
  title,
  message,
  link,
  is_read,
  data: object(
    { count: Type.Integer({ minimum: 1 }), batch_id: Nullable(Uuid) },
    { description: 'The number of cards or events, and their batch' },
  ),
  card_id,
  actor_id,
  actor_name: Nullable(Type.String()),
  created_at,
};

const NotificationSchema = component('Notification', members);

const switches = (description: string) =>
  object(
    Object.fromEntries(
      notificationTypeKeys.map((type) => [
        type,
        Type.Boolean({ description: notificationTypes[type].label }),
      ]),
    ),
    { description },
  );

const NotificationPreferencesSchema = component('NotificationPreferences', {
  in_app: switches('Shown in the application and on the stream'),
  email: switches('Sent by mail'),
  chat: switches('Sent to the own channels of Slack and Microsoft Teams; by default what is mailed'),
});

const changed = () =>
  Clearable(
    object(Object.fromEntries(notificationTypeKeys.map((type) => [type, Type.Optional(Type.Boolean())]))),
  );

const NotificationPreferencesBody = object({ in_app: changed(), email: changed(), chat: changed() });

/** The caller's notifications and their settings. */
export function registerNotificationRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Notifications', permission: 'notifications.manage' });

  routes.list('listNotifications', '/api/v1/notifications', notificationList, {
    summary: 'List own notifications, newest first',
    description: 'The events of one batch are combined in one notification with their number.',
    responses: page('Notifications', NotificationSchema),
  });

  routes.get('countUnreadNotifications', '/api/v1/notifications/unread-count', {
    summary: 'Count own unread notifications',
    responses: ok('The number', object({ count: Count })),
    handler: async ({ ctx }) => ({ count: await countUnread(ctx) }),
  });

  routes.get('countBadges', '/api/v1/notifications/badge-counts', {
    summary: 'Count the caller’s open to-dos and pending surveys',
    responses: ok(
      'The numbers',
      object({
        open_todos: Count,
        pending_surveys: Count,
      }),
    ),
    handler: ({ ctx }) => countBadges(ctx),
  });

  routes.patch('readNotification', '/api/v1/notifications/:id/read', {
    ifMatch: false,
    summary: 'Mark an own notification as read',
    responses: ok('The notification', NotificationSchema),
    handler: ({ ctx, params }) => readNotification(ctx, params.id),
  });

  routes.post('readAllNotifications', '/api/v1/notifications/mark-all-read', {
    summary: 'Mark all own notifications as read',
    responses: ok('How many were unread', object({ ok: Type.Literal(true), updated: Count })),
    handler: async ({ ctx }) => ({ ok: true, updated: await readAllNotifications(ctx) }),
  });

  routes.get('readNotificationPreferences', '/api/v1/users/me/notification-preferences', {
    summary: 'Read the own notification switches',
    permission: 'login',
    scope: 'account',
    responses: ok('All switches', NotificationPreferencesSchema),
    handler: ({ ctx }) => readPreferences(ctx),
  });

  routes.patch('patchNotificationPreferences', '/api/v1/users/me/notification-preferences', {
    summary: 'Change own notification switches',
    description: 'Absent switches are not changed; `null` resets all switches of a channel to the defaults.',
    permission: 'login',
    scope: 'account',
    body: NotificationPreferencesBody,
    responses: ok('All switches', NotificationPreferencesSchema),
    handler: ({ ctx, body }) => patchPreferences(ctx, body),
  });
}
