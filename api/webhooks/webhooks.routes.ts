import type { FastifyReply } from 'fastify';
import Type, { type TSchema } from 'typebox';
import {
  pingWebhook,
  replayDelivery,
  replayFrom,
} from '../../domain/collaboration/webhooks/deliveries.replay.ts';
import {
  createWebhook,
  deleteWebhook,
  patchWebhook,
  rotateSecret,
  type SecretAnswer,
} from '../../domain/collaboration/webhooks/webhooks.commands.ts';
import { webhookEtag } from '../../domain/collaboration/webhooks/webhooks.etag.ts';
import {
  deliveryFilters,
  deliverySorts,
  listDeliveries,
  listWebhooks,
  readWebhook,
  webhookFilters,
  webhookSorts,
} from '../../domain/collaboration/webhooks/webhooks.queries.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { closed, Position, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import {
  WebhookCreateBody,
  WebhookDeliverySchema,
  WebhookPatchBody,
  WebhookSchema,
  WebhookWithSecretSchema,
} from '../schemas/webhooks.ts';
import type { App } from '../types.ts';

const tag = 'Webhooks';
const permission = 'admin.settings';

const sendWebhook = (reply: FastifyReply, webhook: string): FastifyReply =>
  sendJson(reply.header('etag', webhookEtag(webhook)), webhook);

const withSecret = ({ webhook, secret }: SecretAnswer): string =>
  `{"webhook":${webhook},"secret":${JSON.stringify(secret)}}`;

/** Subscriptions that send changes to other systems. */
export function registerWebhookRoutes(app: App, services: Services): void {
  for (const schema of [WebhookSchema, WebhookWithSecretSchema, WebhookDeliverySchema] as TSchema[]) {
    app.addSchema(schema);
  }

  operation(app, {
    method: 'GET',
    url: '/api/v1/webhooks',
    id: 'listWebhooks',
    tag,
    summary: 'List webhooks',
    permission,
    query: listQuery(webhookSorts, 'name', webhookFilters),
    answers: {
      200: { description: 'Webhooks', schema: listAnswer(Type.Ref('Webhook#')) },
    },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listWebhooks(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/webhooks',
    id: 'createWebhook',
    tag,
    secretAnswer: true,
    summary: 'Send changes to an address from now on',
    description:
      'Each change is sent at least once, those of one card in order, signed with the secret that this answer shows. Deliveries contain what the owner can read both when subscribing and when sending. The address must be https and public, unless OUTBOUND_ALLOW names it.',
    permission,
    body: WebhookCreateBody,
    bodyExample: {
      name: 'Warehouse',
      url: 'https://hooks.example.com/estate',
      event_types: ['card.updated'],
    },
    answers: { 201: { description: 'The webhook and its secret', schema: Type.Ref('WebhookWithSecret#') } },
    handler: async ({ ctx, body, reply }) =>
      sendJson(reply.code(201), withSecret(await createWebhook(ctx, services, body))),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/webhooks/:id',
    id: 'readWebhook',
    tag,
    summary: 'Read one webhook',
    permission,
    params: IdParams,
    answers: { 200: { description: 'The webhook', schema: Type.Ref('Webhook#') } },
    handler: async ({ ctx, params, reply }) => sendWebhook(reply, await readWebhook(ctx, params.id)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/webhooks/:id',
    id: 'patchWebhook',
    tag,
    summary: 'Change, pause or resume a webhook',
    description:
      'A resumed webhook continues at its position in the change feed. A caller who changes the address or the filters, or resumes it, becomes the owner.',
    permission,
    params: IdParams,
    body: WebhookPatchBody,
    bodyExample: { status: 'paused' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The webhook', schema: Type.Ref('Webhook#') } },
    handler: async ({ ctx, params, body, reply }) =>
      sendWebhook(reply, await patchWebhook(ctx, services, params.id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/webhooks/:id',
    id: 'deleteWebhook',
    tag,
    summary: 'Delete a webhook with its log',
    permission,
    params: IdParams,
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteWebhook(ctx, params.id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/webhooks/:id/rotate-secret',
    id: 'rotateWebhookSecret',
    tag,
    secretAnswer: true,
    summary: 'Rotate the secret',
    description: 'You become the owner. For 24 hours deliveries are signed with the old secret as well.',
    permission,
    params: IdParams,
    answers: {
      200: { description: 'The webhook and its new secret', schema: Type.Ref('WebhookWithSecret#') },
    },
    handler: async ({ ctx, params, reply }) =>
      sendJson(reply, withSecret(await rotateSecret(ctx, services, params.id))),
  });

  registerDeliveryRoutes(app);
}

/** Deliveries of webhooks. */
function registerDeliveryRoutes(app: App): void {
  operation(app, {
    method: 'POST',
    url: '/api/v1/webhooks/:id/ping',
    id: 'pingWebhook',
    tag,
    summary: 'Send a test delivery',
    permission,
    params: IdParams,
    answers: {
      202: {
        description: 'The delivery',
        schema: Type.Object({ delivery_id: Uuid }, closed),
      },
    },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) =>
      reply.code(202).send({ delivery_id: await pingWebhook(ctx, params.id) }),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/webhooks/:id/replay',
    id: 'replayWebhook',
    tag,
    summary: 'Send everything after a position again',
    description: 'You become the owner: deliveries contain what you can read.',
    permission,
    params: IdParams,
    body: Type.Object({ after: Position }, closed),
    bodyExample: { after: '48213' },
    answers: { 202: { description: 'The webhook at its new position', schema: Type.Ref('Webhook#') } },
    errors: ['wrong_state', 'position_expired'],
    handler: async ({ ctx, params, body, reply }) => {
      await replayFrom(ctx, params.id, body.after);
      return sendJson(reply.code(202), await readWebhook(ctx, params.id));
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/webhooks/:id/deliveries',
    id: 'listWebhookDeliveries',
    tag,
    summary: 'List the deliveries of a webhook, newest first',
    description: 'Deliveries that failed for 24 hours are `dead`.',
    permission,
    params: IdParams,
    query: listQuery(deliverySorts, 'created_at', deliveryFilters),
    answers: {
      200: {
        description: 'Deliveries',
        schema: listAnswer(Type.Ref('WebhookDelivery#')),
      },
    },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listDeliveries(ctx, params.id, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/webhooks/:id/deliveries/:delivery_id/replay',
    id: 'replayWebhookDelivery',
    tag,
    summary: 'Send one delivery again',
    description:
      'It keeps its id, so that the receiver can recognise it. You become the owner: deliveries contain what you can read.',
    permission,
    params: Type.Object({ id: Uuid, delivery_id: Uuid }, closed),
    answers: { 204: { description: 'It is due again' } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      await replayDelivery(ctx, params.id, params.delivery_id);
      return reply.code(204).send();
    },
  });
}
