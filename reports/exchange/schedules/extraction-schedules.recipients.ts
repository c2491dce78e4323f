import { channelRefusal } from '../../../domain/collaboration/channels/channels.commands.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import { query, type Sql } from '../../../platform/database.ts';
import { invalidField, invalidFields } from '../../../platform/errors.ts';
import type { StoredDestination } from './extraction-schedules.types.ts';

/**
 * Splits addresses into those that may receive files by mail, which are active users and the domains that the setting
 * `mail_recipients` names, and the others.
 */
export async function splitRecipients(
  sql: Sql,
  recipients: readonly string[],
): Promise<{ allowed: string[]; refused: string[] }> {
  const domains = new Set((await readSetting(sql, 'mail_recipients')).map((domain) => domain.toLowerCase()));
  const users = await query(sql).column<string>`select lower(u.email) from users u
    where u.is_active and u.kind = 'person' and lower(u.email) = any(${recipients.map((one) => one.toLowerCase())}::text[])`;
  const known = new Set(users);
  const isAllowed = (address: string) =>
    known.has(address.toLowerCase()) ||
    domains.has(address.slice(address.lastIndexOf('@') + 1).toLowerCase());
  return {
    allowed: recipients.filter(isAllowed),
    refused: recipients.filter((address) => !isAllowed(address)),
  };
}

/** @throws EstateError 422 naming the addresses that may not receive files, or the channel that the caller may not use. */
export async function requireRecipients(ctx: Ctx, sql: Sql, destination: StoredDestination): Promise<void> {
  if (destination.kind === 'channel') {
    const refusal = await channelRefusal(sql, ctx, destination.channel_id);
    if (refusal !== undefined) throw invalidField('destination.channel_id', 'refused_channel', refusal);
  }
  if (destination.kind !== 'mail') return;
  const { recipients } = destination;
  const { refused } = await splitRecipients(sql, recipients);
  if (refused.length === 0) return;
  throw invalidFields(
    refused.map((address) => ({
      field: `destination.recipients.${recipients.indexOf(address)}`,
      code: 'refused_address',
      message:
        'is not the address of an active user; an administrator can allow its domain with PATCH /api/v1/settings/mail-recipients',
    })),
  );
}
