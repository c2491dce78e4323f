import type { Extension } from '../../kernel/extensions.ts';
import { Webhook, WebhookDelivery } from './webhooks.model.ts';
import { webhookConsumers } from './webhooks.references.ts';

const undo = { refused: 'Subscriptions contain secrets, and deliveries cannot be recalled.' };

/** Webhooks. */
export const webhooksExtension: Extension = {
  resources: [
    {
      model: Webhook,
      name: 'webhook',
      events: {
        created: ['webhook.created'],
        updated: ['webhook.updated', 'webhook.paused', 'webhook.secret_rotated'],
        deleted: ['webhook.deleted'],
      },
      undo,
      transfer: {
        excluded: 'secret',
        reason: 'Subscriptions contain secrets, and a copy would start to send.',
      },
    },
    {
      model: WebhookDelivery,
      name: 'webhook delivery',
      events: { created: ['webhook.pinged'], updated: ['webhook.replayed'] },
      undo,
      transfer: { excluded: 'service', reason: 'Deliveries belong to the installation that sent them.' },
    },
  ],
  consumers: [webhookConsumers],
};
