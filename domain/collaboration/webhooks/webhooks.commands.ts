import Type, { type Static } from 'typebox';
import { randomSecret, type SecretBox } from '../../../platform/crypto.ts';
import { query, setColumns } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound, requireText } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { ownedBy } from '../../access/jobs.owner.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, etagOf, type Work } from '../../kernel/context.ts';
import { checkPosition, feedEnds } from '../../kernel/events/changes.ts';
import { eventTypes } from '../../kernel/events/events.catalogue.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { defineList, ofParent, readOne } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, Clearable, itemsIn, object } from '../../kernel/shapes.ts';
import { newId } from '../items.ts';
import { deliveryStatuses, Webhook, WebhookDelivery, webhookStatuses } from './webhooks.model.ts';

const bare = (value: unknown): string => etagOf(JSON.stringify(value)).slice(1, -1);

/** Two hashes: of the settings, and of the progress of deliveries. */
function hashes(webhook: JsonText): [string, string] {
  const { position, consecutive_failures, pending, last_delivered_at, ...set } = JSON.parse(webhook);
  return [bare(set), bare([position, consecutive_failures, pending, last_delivered_at])];
}

/** The ETag of a webhook, which changes with every delivery. */
export const webhookEtag = (webhook: JsonText): string => `"${hashes(webhook).join('.')}"`;

/**
 * Compares `If-Match` with the settings only: deliveries do not conflict with a change of settings.
 * @throws EstateError `precondition_failed`.
 */
function checkWebhookMatch(ctx: Ctx, webhook: JsonText): void {
  if (!ctx.ifMatch) return;
  const [set] = hashes(webhook);
  if (ctx.ifMatch.some((tag) => tag === '*' || tag.startsWith(`"${set}.`))) return;
  throw new EstateError('precondition_failed', 'The webhook has changed since you read it; read it again.', {
    headers: { etag: webhookEtag(webhook) },
  });
}

/** The right to read and change webhooks, which send the inventory to other systems. */
export const WEBHOOKS = 'admin.settings';

/** The webhooks, without their secrets. */
export const webhookList = defineList({
  name: 'webhooks',
  permission: WEBHOOKS,
  from: 'webhooks w left join users u on u.id = w.owner_id',
  id: 'w.id',
  sorts: {
    name: { sql: 'lower(w.name)', type: 'text', filled: true },
    ...columnSorts('w', Webhook, 'status', 'created_at'),
  },
  defaultSort: 'name',
  filters: {
    status: [Choice(webhookStatuses, 'Only those in this state'), 'w.status = ?'],
  },
  members: {
    ...columnMembers('w', Webhook.shown),
    owner_name: 'u.display_name',
    position: 'w.position::text',
    consecutive_failures: 'w.failures',
    pending: `(select count(*)::int from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending')`,
  },
  search: `fold(w.name || ' ' || w.url)`,
});

/** The deliveries of a webhook, newest first. */
export const deliveryList = defineList({
  name: 'webhook-deliveries',
  permission: WEBHOOKS,
  from: 'webhook_deliveries d',
  id: 'd.id',
  sorts: columnSorts('d', WebhookDelivery, 'created_at'),
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: {
    status: [Choice(deliveryStatuses, 'Only those in this state'), 'd.status = ?'],
  },
  members: {
    ...columnMembers('d', WebhookDelivery.shown),
    position: 'd.position::text',
    next_attempt_at: `case when d.status = 'pending' then utc(d.next_attempt_at) end`,
  },
  where: ofParent('webhooks', 'webhook', 'd.webhook_id'),
});

/** Seconds for which deliveries are also signed with the previous secret. */
const OVERLAP_SECONDS = 24 * 60 * 60;

const filters = {
  event_types: Clearable(
    Type.Array(
      Type.String({ maxLength: 100 }),
      itemsIn(1, 100, 'Event types, such as `card.updated`; null for all'),
    ),
  ),
  card_types: Clearable(
    Type.Array(
      Type.String({ maxLength: 100 }),
      itemsIn(1, 100, 'Card types at either end of the event; null for all'),
    ),
  ),
};

const { name, url, status, format } = Webhook.columns;
export const WebhookCreateBody = object({ name, url, ...filters, format: Type.Optional(format) });
type WebhookInput = Static<typeof WebhookCreateBody>;

export const WebhookPatchBody = object({
  name: Type.Optional(name),
  url: Type.Optional(url),
  ...filters,
  format: Type.Optional(format),
  status: Type.Optional(status),
});
type WebhookPatch = Static<typeof WebhookPatchBody>;

interface WebhookTools {
  secrets: SecretBox;
  outbound: Outbound;
}

/** A webhook with its secret, which only this answer contains. */
export interface WebhookSecret {
  webhook: JsonText;
  secret: string;
}

const eventRow = `select id, name, url, event_types, card_types, format, status, paused_reason, owner_id, position::text as position
  from webhooks where id = ? for update`;

/** A secret as Standard Webhooks writes them: its libraries decode what follows the prefix from Base64. */
const newSecret = (): string => `whsec_${randomSecret('base64')}`;

/** The encryption context of a secret. */
export const secretContext = (id: string): string => `webhook.${id}`;

/**
 * Creates a webhook for events from now on. Deliveries contain what the caller can read both now and then.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export async function createWebhook(
  ctx: Ctx,
  tools: WebhookTools,
  input: WebhookInput,
): Promise<WebhookSecret> {
  requirePermission(ctx.caller, WEBHOOKS);
  check(ctx, tools, input);
  const secret = newSecret();
  const { owner_id, rights } = ownedBy(ctx.caller);
  const webhook = await command(ctx, async (work) => {
    const id = await newId(work.sql);
    await query(work.sql).run`insert into webhooks (id, name, url, event_types, card_types, format, owner_id,
      rights, secret, position)
       select ${id}, ${input.name.trim()}, ${input.url}, ${input.event_types ?? null}::text[],
       ${input.card_types ?? null}::text[], ${input.format ?? 'estate'}, ${owner_id}, ${rights},
       ${tools.secrets.seal(secret, secretContext(id))}, coalesce((select max(position) from events), 0)`;
    const after = await row(work, id);
    work.emit({ event_type: 'webhook.created', data: { id, changes: rowChanges(null, after) } });
    return await readOne(ctx, webhookList, 'webhook', id, work.sql);
  });
  return { webhook, secret };
}

/**
 * Changes a webhook; `status: active` resumes at its position. A caller who changes the address or the filters, or resumes it,
 * becomes the owner, so that nothing is sent with the rights of a user who did not request it.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`.
 */
export async function patchWebhook(
  ctx: Ctx,
  tools: WebhookTools,
  id: string,
  patch: WebhookPatch,
): Promise<JsonText> {
  requirePermission(ctx.caller, WEBHOOKS);
  check(ctx, tools, patch);
  return await command(ctx, async (work) => {
    const before = await row(work, id);
    checkWebhookMatch(ctx, await readOne(ctx, webhookList, 'webhook', id, work.sql));
    const resumed = patch.status === 'active' && before.status === 'paused';
    const takesOver =
      resumed || patch.url !== undefined || patch.event_types !== undefined || patch.card_types !== undefined;
    const columns = {
      ...(takesOver ? ownedBy(ctx.caller) : {}),
      ...patch,
      ...(patch.name !== undefined && { name: patch.name.trim() }),
      ...(patch.status === 'paused' && before.status === 'active' ? { paused_reason: 'paused by hand' } : {}),
      ...(resumed ? { paused_reason: null, failures: 0, failing_since: null } : {}),
    };
    await setColumns(work.sql('webhooks').where({ id }), columns);
    if (resumed) {
      // pending deliveries are due at once
      await query(work.sql).run`update webhook_deliveries set next_attempt_at = now()
        where webhook_id = ${id} and status = 'pending'`;
    }
    const changes = rowChanges(before, await row(work, id));
    if (Object.keys(changes).length > 0) {
      await work.sql('webhooks').where({ id }).update({ updated_at: work.sql.fn.now() });
      work.emit({ event_type: 'webhook.updated', data: { id, changes } });
      await query(work.sql).run`select pg_notify('estate_feed', '')`;
    }
    return await readOne(ctx, webhookList, 'webhook', id, work.sql);
  });
}

/** Deletes a webhook and its deliveries. @throws EstateError `forbidden`, `not_found`. */
export async function deleteWebhook(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, WEBHOOKS);
  await command(ctx, async (work) => {
    const before = await row(work, id);
    await work.sql('webhooks').where({ id }).delete();
    work.emit({ event_type: 'webhook.deleted', data: { id, changes: rowChanges(before, null) } });
  });
}

/**
 * Rotates the secret, and makes the caller the owner. For a day deliveries are signed with both secrets.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function rotateSecret(ctx: Ctx, { secrets }: WebhookTools, id: string): Promise<WebhookSecret> {
  requirePermission(ctx.caller, WEBHOOKS);
  const secret = newSecret();
  const webhook = await command(ctx, async (work) => {
    const changes = await takeOwnership(ctx, work, id);
    await query(work.sql).run`update webhooks set previous_secret = secret,
      secret = ${secrets.seal(secret, secretContext(id))}, updated_at = now(),
         previous_secret_until = now() + make_interval(secs => ${OVERLAP_SECONDS}) where id = ${id}`;
    work.emit({ event_type: 'webhook.secret_rotated', data: { id, changes } });
    return await readOne(ctx, webhookList, 'webhook', id, work.sql);
  });
  return { webhook, secret };
}

async function row(work: Work, id: string): Promise<Record<string, unknown>> {
  const { rows } = await work.sql.raw(eventRow, [id]);
  if (!rows[0]) throw notFound('webhook', id);
  return rows[0];
}

function check(ctx: Ctx, { outbound }: WebhookTools, input: Partial<WebhookInput>): void {
  if (input.name !== undefined) requireText(input.name, 'name');
  if (input.url !== undefined) {
    const reason = outbound.refusal(input.url);
    if (reason !== undefined) throw invalidField('url', 'refused_address', reason);
  }
  for (const [n, type] of (input.event_types ?? []).entries()) {
    if ((eventTypes as Record<string, string>)[type] !== 'inventory') {
      const message = `there is no event "${type}" to subscribe to`;
      throw invalidField(`event_types.${n}`, 'unknown_event_type', message);
    }
  }
  for (const [n, type] of (input.card_types ?? []).entries()) {
    if (!ctx.metamodel.visibleTypes.includes(type)) {
      throw invalidField(`card_types.${n}`, 'unknown_type', `there is no visible type "${type}"`);
    }
  }
}

/**
 * Makes the caller the owner, whose rights decide about the contents of deliveries.
 * @returns the changes. @throws EstateError `not_found`.
 */
async function takeOwnership(ctx: Ctx, work: Work, id: string): Promise<ReturnType<typeof rowChanges>> {
  const before = await row(work, id);
  await work.sql('webhooks').where({ id }).update(ownedBy(ctx.caller));
  return rowChanges(before, await row(work, id));
}

/** @throws EstateError `wrong_state`, `not_found`. */
async function requireActive(work: Work, id: string): Promise<void> {
  const { status } = await row(work, id);
  if (status !== 'active')
    throw new EstateError('wrong_state', 'The webhook is paused; set its status to active.');
}

const WAKE = `select pg_notify('estate_feed', '')`;

/** Sends a delivery without an event, to test a receiver. @returns its id. */
export async function pingWebhook(ctx: Ctx, id: string): Promise<string> {
  requirePermission(ctx.caller, WEBHOOKS);
  return await command(ctx, async (work) => {
    await requireActive(work, id);
    const data = { webhook_id: id, event_type: 'webhook.ping', order_key: 'ping' };
    const [delivery] = await work.sql('webhook_deliveries').insert(data).returning('id');
    work.emit({ event_type: 'webhook.pinged', data: { id } });
    await work.sql.raw(WAKE);
    return delivery.id;
  });
}

/**
 * Sends a finished delivery again with the same id, for another 24 hours. The caller becomes the owner of the webhook.
 * @throws EstateError `not_found`, `wrong_state` for a paused webhook.
 */
export async function replayDelivery(ctx: Ctx, id: string, deliveryId: string): Promise<void> {
  requirePermission(ctx.caller, WEBHOOKS);
  await command(ctx, async (work) => {
    await requireActive(work, id);
    const changed = await work
      .sql('webhook_deliveries')
      .where({ webhook_id: id, id: deliveryId })
      .update({
        status: 'pending',
        attempts: 0,
        next_attempt_at: work.sql.fn.now(),
        leased_until: null,
        finished_at: null,
        expires_at: work.sql.raw(`now() + interval '24 hours'`),
      });
    if (changed === 0) throw notFound('delivery', deliveryId);
    const changes = await takeOwnership(ctx, work, id);
    work.emit({ event_type: 'webhook.replayed', data: { id, delivery_id: deliveryId, changes } });
    await work.sql.raw(WAKE);
  });
}

/**
 * Sets the position of a webhook back: everything after it is delivered again with new ids. The caller becomes the owner of
 * the webhook.
 * @throws EstateError `not_found`, `position_expired`, `validation_failed`, `wrong_state` for a paused webhook.
 */
export async function replayFrom(ctx: Ctx, id: string, after: string): Promise<void> {
  requirePermission(ctx.caller, WEBHOOKS);
  await command(ctx, async (work) => {
    await requireActive(work, id);
    const position = checkPosition(after, await feedEnds(work.sql), 'after');
    const changes = await takeOwnership(ctx, work, id);
    await work.sql('webhooks').where({ id }).update({ position });
    work.emit({ event_type: 'webhook.replayed', data: { id, after, changes } });
    await work.sql.raw(WAKE);
  });
}
