import Type from 'typebox';
import { Webhook, WebhookDelivery } from '../../domain/collaboration/webhooks/webhooks.model.ts';
import { closed, Nullable, Position, Timestamp } from '../../domain/kernel/shapes.ts';

const filters = {
  event_types: Type.Optional(
    Nullable(
      Type.Array(Type.String({ maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Event types, such as `card.updated`; null for all',
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

const { name, url, status } = Webhook.columns;

const {
  rights: _rights,
  secret: _secret,
  previous_secret: _previousSecret,
  failures: _failures,
  failing_since: _failingSince,
  ...webhookColumns
} = Webhook.columns;
export const WebhookSchema = Type.Partial(
  Type.Object({
    ...webhookColumns,
    owner_name: Nullable(Type.String()),
    position: Position,
    consecutive_failures: Type.Integer(),
    pending: Type.Integer({ description: 'Pending deliveries' }),
  }),
  { $id: 'Webhook', ...closed },
);

export const WebhookWithSecretSchema = Type.Object(
  {
    webhook: WebhookSchema,
    secret: Type.String({ description: 'Shown this once; deliveries are signed with it' }),
  },
  { $id: 'WebhookWithSecret', ...closed },
);

const {
  webhook_id: _webhookId,
  order_key: _orderKey,
  leased_until: _leasedUntil,
  expires_at: _expiresAt,
  ...deliveryColumns
} = WebhookDelivery.columns;
export const WebhookDeliverySchema = Type.Partial(
  Type.Object({ ...deliveryColumns, position: Nullable(Position), next_attempt_at: Nullable(Timestamp) }),
  { $id: 'WebhookDelivery', ...closed },
);

export const WebhookCreateBody = Type.Object({ name, url, ...filters }, closed);

export const WebhookPatchBody = Type.Object(
  {
    name: Type.Optional(name),
    url: Type.Optional(url),
    ...filters,
    status: Type.Optional(status),
  },
  closed,
);
