import Type from 'typebox';
import { Webhook, WebhookDelivery } from '../../domain/collaboration/webhooks/webhooks.model.ts';
import {
  component,
  itemComponent,
  Nullable,
  object,
  Position,
  Timestamp,
} from '../../domain/kernel/shapes.ts';

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
export const WebhookSchema = itemComponent('Webhook', {
  ...webhookColumns,
  owner_name: Nullable(Type.String()),
  position: Position,
  consecutive_failures: Type.Integer(),
  pending: Type.Integer({ description: 'Pending deliveries' }),
});

export const WebhookWithSecretSchema = component('WebhookWithSecret', {
  webhook: WebhookSchema,
  secret: Type.String({ description: 'Only returned here; deliveries are signed with it' }),
});

const {
  webhook_id: _webhookId,
  order_key: _orderKey,
  leased_until: _leasedUntil,
  expires_at: _expiresAt,
  ...deliveryColumns
} = WebhookDelivery.columns;
export const WebhookDeliverySchema = itemComponent('WebhookDelivery', {
  ...deliveryColumns,
  position: Nullable(Position),
  next_attempt_at: Nullable(Timestamp),
});

export const WebhookCreateBody = object({ name, url, ...filters });

export const WebhookPatchBody = object({
  name: Type.Optional(name),
  url: Type.Optional(url),
  ...filters,
  status: Type.Optional(status),
});
