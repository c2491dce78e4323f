import Type from 'typebox';
import {
  component,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Position,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';

export const AuditEventSchema = itemComponent('AuditEvent', {
  id: Uuid,
  position: Position,
  event_type: Type.String(),
  scope: Type.Union([Type.Literal('inventory'), Type.Literal('audit'), Type.Literal('user')]),
  card_id: Nullable(Uuid),
  card_name: Nullable(Type.String()),
  peer_card_id: Nullable(Uuid),
  relation_id: Nullable(Uuid),
  data: OpenObject,
  user_id: Nullable(Uuid),
  user_display_name: Nullable(Type.String()),
  request_id: Nullable(Type.String()),
  job_id: Nullable(Uuid),
  origin: Nullable(Type.String()),
  created_at: Timestamp,
});

/** An event of a followed card. */
export const FollowedEventSchema = itemComponent('FollowedEvent', {
  id: Uuid,
  position: Position,
  card_id: Uuid,
  card_name: Type.String(),
  event_type: Type.String(),
  data: OpenObject,
  user_display_name: Nullable(Type.String()),
  created_at: Timestamp,
});

export const ChangesSchema = component('Changes', {
  items: Type.Array(
    object({
      position: Position,
      event_type: Type.String(),
      card_id: Nullable(Uuid),
      peer_card_id: Nullable(Uuid),
      relation_id: Nullable(Uuid),
      at: Timestamp,
      actor: Nullable(object({ id: Uuid, display_name: Type.String() })),
      data: OpenObject,
    }),
  ),
  next: Position,
  has_more: Type.Boolean(),
});
