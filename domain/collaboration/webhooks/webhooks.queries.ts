import Type from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, type StaticOf } from '../../kernel/shapes.ts';
import { deliveryStatuses, Webhook, WebhookDelivery, webhookStatuses } from './webhooks.model.ts';

/** The right to read and change webhooks, which send the inventory to other systems. */
export const WEBHOOKS = 'admin.settings';

export const webhookSorts: Record<string, SortField> = {
  name: { sql: 'lower(w.name)', type: 'text', filled: true },
  status: { sql: 'w.status', type: 'text', filled: true },
  created_at: { sql: 'w.created_at', type: 'timestamptz', immutable: true },
};
export const webhookFilters = { status: Type.Optional(Choice(webhookStatuses, 'Only those in this state')) };
export const deliverySorts: Record<string, SortField> = {
  created_at: { sql: 'd.created_at', type: 'timestamptz', immutable: true },
};
export const deliveryFilters = {
  status: Type.Optional(Choice(deliveryStatuses, 'Only those in this state')),
};

const {
  rights: _rights,
  secret: _secret,
  previous_secret: _previousSecret,
  failures: _failures,
  failing_since: _failingSince,
  ...webhookColumns
} = columnMembers('w', Webhook);
const {
  webhook_id: _webhookId,
  order_key: _orderKey,
  leased_until: _leasedUntil,
  expires_at: _expiresAt,
  ...deliveryColumns
} = columnMembers('d', WebhookDelivery);

const webhookList: ListSpec = {
  name: 'webhooks',
  from: 'webhooks w left join users u on u.id = w.owner_id',
  id: 'w.id',
  sorts: webhookSorts,
  defaultSort: 'name',
  members: {
    ...webhookColumns,
    owner_name: 'u.display_name',
    position: 'w.position::text',
    consecutive_failures: 'w.failures',
    pending: `(select count(*)::int from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending')`,
  },
  search: `fold(w.name || ' ' || w.url)`,
};

const deliveryList: ListSpec = {
  name: 'webhook-deliveries',
  from: 'webhook_deliveries d',
  id: 'd.id',
  sorts: deliverySorts,
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    ...deliveryColumns,
    position: 'd.position::text',
    next_attempt_at: `case when d.status = 'pending' then utc(d.next_attempt_at) end`,
  },
};

/** The webhooks, without their secrets. */
export async function listWebhooks(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof webhookFilters>,
): Promise<JsonText> {
  requirePermission(ctx.caller, WEBHOOKS);
  const where: Condition[] = params.status ? [{ sql: 'w.status = ?', bindings: [params.status] }] : [];
  return await runList(ctx.db, webhookList, where, params, { owner: ctx.caller.userId });
}

/** One webhook as JSON. @throws EstateError `not_found`. */
export async function readWebhook(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requirePermission(ctx.caller, WEBHOOKS);
  return await readItem(sql, webhookList, 'webhook', id);
}

/** The deliveries of a webhook, newest first. @throws EstateError `not_found`. */
export async function listDeliveries(
  ctx: Ctx,
  id: string,
  params: ListParams & StaticOf<typeof deliveryFilters>,
): Promise<JsonText> {
  requirePermission(ctx.caller, WEBHOOKS);
  if (!(await ctx.db('webhooks').where({ id }).first('id'))) throw notFound('webhook', id);
  const where: Condition[] = [{ sql: 'd.webhook_id = ?::uuid', bindings: [id] }];
  if (params.status) where.push({ sql: 'd.status = ?', bindings: [params.status] });
  return await runList(ctx.db, deliveryList, where, params, { owner: ctx.caller.userId });
}
