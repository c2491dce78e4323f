import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';

/** What reading and changing webhooks needs: they send the inventory away. */
export const WEBHOOKS = 'admin.settings';

const webhookList: ListSpec = {
  name: 'webhooks',
  from: 'webhooks w left join users u on u.id = w.owner_id',
  id: 'w.id',
  idType: 'uuid',
  sorts: {
    name: { sql: 'lower(w.name)', type: 'text', filled: true },
    status: { sql: 'w.status', type: 'text', filled: true },
    created_at: { sql: 'w.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'name',
  defaultDir: 'asc',
  members: {
    id: 'w.id',
    name: 'w.name',
    url: 'w.url',
    event_types: 'w.event_types',
    card_types: 'w.card_types',
    status: 'w.status',
    paused_reason: 'w.paused_reason',
    owner_id: 'w.owner_id',
    owner_name: 'u.display_name',
    position: 'w.position::text',
    consecutive_failures: 'w.failures',
    pending: `(select count(*)::int from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending')`,
    last_delivered_at: 'utc(w.last_delivered_at)',
    previous_secret_until: 'utc(w.previous_secret_until)',
    created_at: 'utc(w.created_at)',
    updated_at: 'utc(w.updated_at)',
  },
  search: `fold(w.name || ' ' || w.url)`,
};

const deliveryList: ListSpec = {
  name: 'webhook-deliveries',
  from: 'webhook_deliveries d',
  id: 'd.id',
  idType: 'uuid',
  sorts: { created_at: { sql: 'd.created_at', type: 'timestamptz', immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    id: 'd.id',
    position: 'd.position::text',
    event_type: 'd.event_type',
    status: 'd.status',
    attempts: 'd.attempts',
    response_status: 'd.response_status',
    error: 'd.error',
    duration_ms: 'd.duration_ms',
    next_attempt_at: `case when d.status = 'pending' then utc(d.next_attempt_at) end`,
    created_at: 'utc(d.created_at)',
    finished_at: 'utc(d.finished_at)',
  },
};

/** The subscriptions, without their secrets. */
export async function listWebhooks(
  ctx: Ctx,
  params: ListParams & { status?: 'active' | 'paused' },
): Promise<JsonText> {
  requirePermission(ctx.caller, WEBHOOKS);
  const where: Condition[] = params.status ? [{ sql: 'w.status = ?', bindings: [params.status] }] : [];
  return await runList(ctx.db, webhookList, where, params, { owner: ctx.caller.userId });
}

/** One subscription as JSON. @throws EstateError `not_found`. */
export async function readWebhook(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requirePermission(ctx.caller, WEBHOOKS);
  const item = projection(webhookList.members, undefined);
  const { rows } = await sql.raw(`select ${item.sql}::text as item from ${webhookList.from} where w.id = ?`, [
    ...item.bindings,
    id,
  ] as never);
  if (!rows[0]) throw notFound('webhook', id);
  return rows[0].item;
}

/** The log of a subscription's deliveries, newest first. @throws EstateError `not_found`. */
export async function listDeliveries(
  ctx: Ctx,
  id: string,
  params: ListParams & { status?: 'pending' | 'delivered' | 'dead' },
): Promise<JsonText> {
  requirePermission(ctx.caller, WEBHOOKS);
  if (!(await ctx.db('webhooks').where({ id }).first('id'))) throw notFound('webhook', id);
  const where: Condition[] = [{ sql: 'd.webhook_id = ?::uuid', bindings: [id] }];
  if (params.status) where.push({ sql: 'd.status = ?', bindings: [params.status] });
  return await runList(ctx.db, deliveryList, where, params, { owner: ctx.caller.userId });
}
