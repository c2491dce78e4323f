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

export const notificationExample = {
  id: '01980000-0000-7000-8000-000000000001',
  user_id: '01980000-0000-7000-8000-000000000002',
  type: 'card_updated',
  title: 'Claims Desk was changed',
  message: 'Ada Lovelace has changed name and lifecycle.',
  link: '/cards/01980000-0000-7000-8000-000000000003',
  is_read: false,
  data: { count: 1, batch_id: '01980000-0000-7000-8000-000000000004' },
  card_id: '01980000-0000-7000-8000-000000000003',
  actor_id: '01980000-0000-7000-8000-000000000005',
  actor_name: 'Ada Lovelace',
  created_at: '2026-01-01T08:00:00.000Z',
};
