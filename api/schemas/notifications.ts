import Type from 'typebox';
import { Notification } from '../../domain/collaboration/notifications/notifications.model.ts';
import {
  notificationTypeKeys,
  notificationTypes,
} from '../../domain/collaboration/notifications/notifications.types.ts';
import { closed, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

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
  data: Type.Object(
    { count: Type.Integer({ minimum: 1 }), batch_id: Nullable(Uuid) },
    { ...closed, description: 'The number of cards or events, and their batch' },
  ),
  card_id,
  actor_id,
  actor_name: Nullable(Type.String()),
  created_at,
};

export const NotificationSchema = Type.Object(members, { $id: 'Notification', ...closed });
/** In lists, where `fields` may leave members out. */
export const NotificationItemSchema = Type.Partial(Type.Object(members), {
  $id: 'NotificationItem',
  ...closed,
});

const switches = (description: string) =>
  Type.Object(
    Object.fromEntries(
      notificationTypeKeys.map((type) => [
        type,
        Type.Boolean({ description: notificationTypes[type].label }),
      ]),
    ),
    { ...closed, description },
  );

export const NotificationPreferencesSchema = Type.Object(
  {
    in_app: switches('Shown in the application and on the stream'),
    email: switches('Sent by mail'),
  },
  { $id: 'NotificationPreferences', ...closed },
);

const changed = () =>
  Type.Optional(
    Nullable(
      Type.Object(
        Object.fromEntries(notificationTypeKeys.map((type) => [type, Type.Optional(Type.Boolean())])),
        closed,
      ),
    ),
  );

export const NotificationPreferencesBody = Type.Object({ in_app: changed(), email: changed() }, closed);
