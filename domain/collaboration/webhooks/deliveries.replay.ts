import { notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { checkPosition, feedEnds } from '../../kernel/events/changes.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireActive, takeOwnership } from './webhooks.commands.ts';
import { WEBHOOKS } from './webhooks.queries.ts';

const WAKE = `select pg_notify('estate_feed', '')`;

/** Sends a delivery without an event, to test a receiver. @returns its id. */
export async function pingWebhook(ctx: Ctx, id: string): Promise<string> {
  requirePermission(ctx.caller, WEBHOOKS);
  return await command(ctx, async (work) => {
    await requireActive(work, id);
    const [delivery] = await work
      .sql('webhook_deliveries')
      .insert({ webhook_id: id, event_type: 'webhook.ping', order_key: 'ping' })
      .returning('id');
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
