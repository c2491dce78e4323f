import Type from 'typebox';
import { Notification } from '../../domain/collaboration/notifications/notifications.model.ts';
import {
  notificationTypeKeys,
  notificationTypes,
} from '../../domain/collaboration/notifications/notifications.types.ts';
import { component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';

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

export const NotificationSchema = component('Notification', members);
/** A notification in a list, with the requested members. */
export const NotificationItemSchema = itemComponent('NotificationItem', members);

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

export const NotificationPreferencesSchema = component('NotificationPreferences', {
  in_app: switches('Shown in the application and on the stream'),
  email: switches('Sent by mail'),
});

const changed = () =>
  Type.Optional(
    Nullable(
      object(Object.fromEntries(notificationTypeKeys.map((type) => [type, Type.Optional(Type.Boolean())]))),
    ),
  );

export const NotificationPreferencesBody = object({ in_app: changed(), email: changed() });
