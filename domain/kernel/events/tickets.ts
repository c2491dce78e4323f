import { randomSecret, sha256 } from '../../../platform/crypto.ts';
import type { Db } from '../../../platform/database.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import type { Credential } from '../sessions.ts';

/** Life of a ticket in seconds. */
export const TICKET_SECONDS = 30;

/** A single-use ticket that opens one stream for the holder of the presented token. */
export async function createTicket(ctx: Ctx, credential: Credential): Promise<string> {
  const ticket = randomSecret();
  await command(ctx, async ({ sql, emit }) => {
    await sql('one_time_tokens').insert({
      hash: sha256(ticket),
      purpose: 'stream',
      user_id: ctx.caller.userId,
      data: JSON.stringify(credential),
      expires_at: sql.raw('now() + make_interval(secs => ?)', [TICKET_SECONDS]),
    });
    emit({ event_type: 'auth.ticket_created', data: {} });
  });
  return ticket;
}

/** Uses a ticket up. @returns what it was made with, or undefined when it is spent or too old. */
export async function redeemTicket(db: Db, ticket: string): Promise<Credential | undefined> {
  const [row] = await db('one_time_tokens')
    .where({ hash: sha256(ticket), purpose: 'stream' })
    .whereRaw('expires_at > now()')
    .delete()
    .returning('data');
  return row?.data;
}
