import { randomSecret, type SecretBox } from '../../../platform/crypto.ts';
import { query, setColumns } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { ownedBy } from '../../access/jobs.owner.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { eventTypes } from '../../kernel/events/events.catalogue.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { checkWebhookMatch } from './webhooks.etag.ts';
import { readWebhook, WEBHOOKS } from './webhooks.queries.ts';

/** Seconds for which deliveries are also signed with the previous secret. */
const OVERLAP_SECONDS = 24 * 60 * 60;

export interface WebhookInput {
  name: string;
  url: string;
  /** Null or absent: all. */
  event_types?: string[] | null;
  card_types?: string[] | null;
}

export interface WebhookPatch extends Partial<WebhookInput> {
  status?: 'active' | 'paused';
}

export interface WebhookTools {
  secrets: SecretBox;
  outbound: Outbound;
}

/** A webhook with its secret, which only this answer contains. */
export interface SecretAnswer {
  webhook: JsonText;
  secret: string;
}

const eventRow = `select id, name, url, event_types, card_types, status, paused_reason, owner_id, position::text as position
  from webhooks where id = ? for update`;

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
): Promise<SecretAnswer> {
  requirePermission(ctx.caller, WEBHOOKS);
  check(ctx, tools, input);
  const secret = `whsec_${randomSecret()}`;
  const { owner_id, rights } = ownedBy(ctx.caller);
  const webhook = await command(ctx, async (work) => {
    const ids = await query(work.sql).rows`select uuidv7() as id`;
    const id: string = ids[0].id;
    await query(work.sql).run`insert into webhooks (id, name, url, event_types, card_types, owner_id, rights,
      secret, position)
       select ${id}, ${input.name.trim()}, ${input.url}, ${input.event_types ?? null}::text[],
       ${input.card_types ?? null}::text[], ${owner_id}, ${rights},
       ${tools.secrets.seal(secret, secretContext(id))}, coalesce((select max(position) from events), 0)`;
    const after = await row(work, id);
    work.emit({ event_type: 'webhook.created', data: { id, changes: rowChanges(null, after) } });
    return await readWebhook(ctx, id, work.sql);
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
    checkWebhookMatch(ctx, await readWebhook(ctx, id, work.sql));
    const resumed = patch.status === 'active' && before.status === 'paused';
    const takesOver =
      resumed || patch.url !== undefined || patch.event_types !== undefined || patch.card_types !== undefined;
    const columns = {
      ...(takesOver ? ownedBy(ctx.caller) : {}),
      ...(patch.name === undefined ? {} : { name: patch.name.trim() }),
      ...(patch.url === undefined ? {} : { url: patch.url }),
      ...(patch.event_types === undefined ? {} : { event_types: patch.event_types }),
      ...(patch.card_types === undefined ? {} : { card_types: patch.card_types }),
      ...(patch.status === undefined ? {} : { status: patch.status }),
      ...(patch.status === 'paused' && before.status === 'active' ? { paused_reason: 'paused by hand' } : {}),
      ...(resumed ? { paused_reason: null, failures: 0, failing_since: null } : {}),
    };
    await setColumns(work.sql('webhooks').where({ id }), columns);
    if (resumed) {
      // pending deliveries are due at once
      await work
        .sql('webhook_deliveries')
        .where({ webhook_id: id, status: 'pending' })
        .update({ next_attempt_at: work.sql.fn.now() });
    }
    const changes = rowChanges(before, await row(work, id));
    if (Object.keys(changes).length > 0) {
      await work.sql('webhooks').where({ id }).update({ updated_at: work.sql.fn.now() });
      work.emit({ event_type: 'webhook.updated', data: { id, changes } });
      await query(work.sql).run`select pg_notify('estate_feed', '')`;
    }
    return await readWebhook(ctx, id, work.sql);
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
export async function rotateSecret(ctx: Ctx, { secrets }: WebhookTools, id: string): Promise<SecretAnswer> {
  requirePermission(ctx.caller, WEBHOOKS);
  const secret = `whsec_${randomSecret()}`;
  const webhook = await command(ctx, async (work) => {
    const changes = await takeOwnership(ctx, work, id);
    await query(work.sql).run`update webhooks set previous_secret = secret,
      secret = ${secrets.seal(secret, secretContext(id))}, updated_at = now(),
         previous_secret_until = now() + make_interval(secs => ${OVERLAP_SECONDS}) where id = ${id}`;
    work.emit({ event_type: 'webhook.secret_rotated', data: { id, changes } });
    return await readWebhook(ctx, id, work.sql);
  });
  return { webhook, secret };
}

async function row(work: Work, id: string): Promise<Record<string, unknown>> {
  const { rows } = await work.sql.raw(eventRow, [id]);
  if (!rows[0]) throw notFound('webhook', id);
  return rows[0];
}

function check(ctx: Ctx, { outbound }: WebhookTools, input: Partial<WebhookInput>): void {
  if (input.name !== undefined && input.name.trim() === '') {
    throw invalidField('name', 'required', 'must not be blank');
  }
  if (input.url !== undefined) {
    const reason = outbound.refusal(input.url);
    if (reason !== undefined) throw invalidField('url', 'refused_address', reason);
  }
  for (const [n, type] of (input.event_types ?? []).entries()) {
    if ((eventTypes as Record<string, string>)[type] !== 'inventory') {
      throw invalidField(
        `event_types.${n}`,
        'unknown_event_type',
        `there is no event "${type}" to subscribe to`,
      );
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
export async function takeOwnership(
  ctx: Ctx,
  work: Work,
  id: string,
): Promise<ReturnType<typeof rowChanges>> {
  const before = await row(work, id);
  await work.sql('webhooks').where({ id }).update(ownedBy(ctx.caller));
  return rowChanges(before, await row(work, id));
}

/** @throws EstateError `wrong_state`, `not_found`. */
export async function requireActive(work: Work, id: string): Promise<void> {
  const { status } = await row(work, id);
  if (status !== 'active')
    throw new EstateError('wrong_state', 'The webhook is paused; set its status to active.');
}
