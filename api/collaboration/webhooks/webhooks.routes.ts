import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import {
  createWebhook,
  deleteWebhook,
  deliveryList,
  patchWebhook,
  pingWebhook,
  replayDelivery,
  replayFrom,
  rotateSecret,
  WebhookCreateBody,
  WebhookPatchBody,
  type WebhookSecret,
  webhookEtag,
  webhookList,
} from '../../../domain/collaboration/webhooks/webhooks.commands.ts';
import { Webhook, WebhookDelivery } from '../../../domain/collaboration/webhooks/webhooks.model.ts';
import { readOne } from '../../../domain/kernel/lists/lists.define.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  component,
  itemComponent,
  Nullable,
  object,
  Position,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { sendJson } from '../../json.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const WebhookSchema = itemComponent('Webhook', {
  ...Webhook.shown.columns,
  owner_name: Nullable(Type.String()),
  position: Position,
  consecutive_failures: Type.Integer(),
  pending: Type.Integer({ description: 'Pending deliveries' }),
});

const WebhookWithSecretSchema = component('WebhookWithSecret', {
  webhook: WebhookSchema,
  secret: Type.String({ description: 'Only returned here; deliveries are signed with it' }),
});
const WebhookDeliverySchema = itemComponent('WebhookDelivery', {
  ...WebhookDelivery.shown.columns,
  position: Nullable(Position),
  next_attempt_at: Nullable(Timestamp),
});

const sendWebhook = (reply: FastifyReply, webhook: string): FastifyReply =>
  sendJson(reply.header('etag', webhookEtag(webhook)), webhook);

const withSecret = ({ webhook, secret }: WebhookSecret): string =>
  `{"webhook":${webhook},"secret":${JSON.stringify(secret)}}`;

/** Subscriptions that send changes to other systems. */
export function registerWebhookRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Webhooks', permission: 'admin.settings' });

  routes.list('listWebhooks', '/api/v1/webhooks', webhookList, {
    summary: 'List webhooks',
    responses: page('Webhooks', WebhookSchema),
  });

  routes.post('createWebhook', '/api/v1/webhooks', {
    secretResponse: true,
    summary: 'Create a webhook that sends changes from now on',
    description:
      'Each change is sent at least once, those of one card in order, signed with the secret in this response. Deliveries contain what the owner can read both when subscribing and when sending. The URL must be https and public, unless OUTBOUND_ALLOW lists its host.',
    body: WebhookCreateBody,
    responses: { 201: { description: 'The webhook and its secret', schema: WebhookWithSecretSchema } },
    handler: async ({ ctx, body }) => withSecret(await createWebhook(ctx, services, body)),
  });

  routes.get('readWebhook', '/api/v1/webhooks/:id', {
    summary: 'Read one webhook',
    responses: ok('The webhook', WebhookSchema),
    handler: async ({ ctx, params, reply }) =>
      sendWebhook(reply, await readOne(ctx, webhookList, 'webhook', params.id)),
  });

  routes.patch('patchWebhook', '/api/v1/webhooks/:id', {
    summary: 'Change, pause or resume a webhook',
    description:
      'A resumed webhook continues at its position in the change feed. A caller who changes the URL or the filters, or resumes it, becomes the owner.',
    body: WebhookPatchBody,
    responses: ok('The webhook', WebhookSchema),
    handler: async ({ ctx, params, body, reply }) =>
      sendWebhook(reply, await patchWebhook(ctx, services, params.id, body)),
  });

  routes.delete('deleteWebhook', '/api/v1/webhooks/:id', {
    summary: 'Delete a webhook with its log',
    handler: ({ ctx, params }) => deleteWebhook(ctx, params.id),
  });

  routes.post('rotateWebhookSecret', '/api/v1/webhooks/:id/rotate-secret', {
    secretResponse: true,
    summary: 'Rotate the secret',
    description: 'You become the owner. For 24 hours deliveries are signed with the old secret as well.',
    responses: ok('The webhook and its new secret', WebhookWithSecretSchema),
    handler: async ({ ctx, params }) => withSecret(await rotateSecret(ctx, services, params.id)),
  });

  routes.post('pingWebhook', '/api/v1/webhooks/:id/ping', {
    summary: 'Send a test delivery',
    responses: { 202: { description: 'The delivery', schema: object({ delivery_id: Uuid }) } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params }) => ({ delivery_id: await pingWebhook(ctx, params.id) }),
  });

  routes.post('replayWebhook', '/api/v1/webhooks/:id/replay', {
    summary: 'Send everything after a position again',
    description: 'You become the owner: deliveries contain what you can read.',
    body: object({ after: Position }),
    responses: { 202: { description: 'The webhook at its new position', schema: WebhookSchema } },
    errors: ['wrong_state', 'position_expired'],
    handler: async ({ ctx, params, body }) => {
      await replayFrom(ctx, params.id, body.after);
      return await readOne(ctx, webhookList, 'webhook', params.id);
    },
  });

  routes.list('listWebhookDeliveries', '/api/v1/webhooks/:id/deliveries', deliveryList, {
    summary: 'List the deliveries of a webhook, newest first',
    description: 'Deliveries that failed for 24 hours are `dead`.',
    responses: page('Deliveries', WebhookDeliverySchema),
  });

  routes.post('replayWebhookDelivery', '/api/v1/webhooks/:id/deliveries/:delivery_id/replay', {
    summary: 'Send one delivery again',
    description:
      'It has the same id, so that the receiver can detect duplicates. You become the owner: deliveries contain what you can read.',
    responses: { 204: { description: 'It is due again' } },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => replayDelivery(ctx, params.id, params.delivery_id),
  });
}
