import Type from 'typebox';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

const Status = Type.Union([Type.Literal('active'), Type.Literal('paused')]);

const filters = {
  event_types: Type.Optional(
    Nullable(
      Type.Array(Type.String({ maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Kinds of events, such as `card.updated`; null for all',
      }),
    ),
  ),
  card_types: Type.Optional(
    Nullable(
      Type.Array(Type.String({ maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Card types at either end of the event; null for all',
      }),
    ),
  ),
};

const url = Type.String({ minLength: 1, maxLength: 2000, examples: ['https://hooks.example.com/estate'] });

export const WebhookSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    name: Type.String(),
    url: Type.String(),
    event_types: Nullable(Type.Array(Type.String())),
    card_types: Nullable(Type.Array(Type.String())),
    status: Status,
    paused_reason: Nullable(Type.String()),
    owner_id: Uuid,
    owner_name: Nullable(Type.String()),
    position: Position,
    consecutive_failures: Type.Integer(),
    pending: Type.Integer({ description: 'Deliveries that still have to be made' }),
    last_delivered_at: Nullable(Timestamp),
    previous_secret_until: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  { $id: 'Webhook', ...closed },
);

export const WebhookWithSecretSchema = Type.Object(
  {
    webhook: Type.Ref('Webhook#'),
    secret: Type.String({ description: 'Shown this once; deliveries are signed with it' }),
  },
  { $id: 'WebhookWithSecret', ...closed },
);

export const WebhookDeliverySchema = Type.Partial(
  Type.Object({
    id: Uuid,
    position: Nullable(Position),
    event_type: Type.String(),
    status: Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('dead')]),
    attempts: Type.Integer(),
    response_status: Nullable(Type.Integer()),
    error: Nullable(Type.String()),
    duration_ms: Nullable(Type.Integer()),
    next_attempt_at: Nullable(Timestamp),
    created_at: Timestamp,
    finished_at: Nullable(Timestamp),
  }),
  { $id: 'WebhookDelivery', ...closed },
);

export const WebhookCreateBody = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 200 }), url, ...filters },
  closed,
);

export const WebhookPatchBody = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    url: Type.Optional(url),
    ...filters,
    status: Type.Optional(Status),
  },
  closed,
);
