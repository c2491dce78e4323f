import Type from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, NullableText, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { notificationTypeKeys } from './notifications.types.ts';

export class Notification extends rowModel('notifications', {
  id: Uuid,
  user_id: Uuid,
  type: Choice(notificationTypeKeys),
  title: Type.String(),
  message: Type.String(),
  link: NullableText('A path below the `app_base_url` of the settings'),
  is_read: Type.Boolean(),
  /** Set if it is about one card; outlives the card. */
  card_id: Nullable(Uuid),
  actor_id: Nullable(Uuid),
  /** The first event that it describes, and the batch whose events it combines. */
  event_position: Type.Integer(),
  batch_id: Nullable(Uuid),
  /** The number of events that it describes. */
  count: Type.Integer(),
  /** Until then it also combines events of other batches by the same actor. */
  gathers_until: Nullable(Timestamp),
  /** False: only sent by mail or to channels. */
  in_app: Type.Boolean(),
  mail_pending: Type.Boolean(),
  /** Whether the user's channels have not got it yet. */
  chat_pending: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type NotificationRow = RowOf<typeof Notification>;
