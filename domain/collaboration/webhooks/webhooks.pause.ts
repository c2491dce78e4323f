import type { Knex } from 'knex';
import { recordEvents } from '../../kernel/command.ts';
import { enqueueMail, isMailAddress } from '../../kernel/mail/mail.enqueue.ts';
import { type Services, systemContext } from '../../kernel/services.ts';

/** Pauses a webhook until a user sets it active, and mails the reason to its owner. */
export async function pause(
  services: Services,
  sql: Knex.Transaction,
  webhook: { id: string; name: string; owner_id: string },
  reason: string,
): Promise<void> {
  const changed = await sql('webhooks')
    // not where another user has become the owner
    .where({ id: webhook.id, owner_id: webhook.owner_id, status: 'active' })
    .update({ status: 'paused', paused_reason: reason, updated_at: sql.fn.now() });
  if (changed === 0) return;
  const ctx = await systemContext(services, 'webhook');
  // the mail for a service account goes to its owner
  const owner = await sql('users as u')
    .join('users as p', 'p.id', sql.raw("case u.kind when 'service' then u.owner_id else u.id end"))
    .where({ 'u.id': webhook.owner_id, 'p.is_active': true })
    .first('p.email');
  if (owner && isMailAddress(owner.email)) {
    await enqueueMail(sql, ctx, {
      to: owner.email,
      subject: `The webhook ${webhook.name} is paused`,
      text: `Estate has paused the webhook "${webhook.name}": ${reason}.\n\nNothing is lost: set its status to active, and it goes on in the change feed where it stopped.\n`,
    });
  }
  const changes = { status: { old: 'active', new: 'paused' }, paused_reason: { old: null, new: reason } };
  await recordEvents(sql, ctx, [{ event_type: 'webhook.paused', data: { id: webhook.id, changes } }], []);
}
