import { randomSecret, sha256 } from '../../../platform/crypto.ts';
import type { Db } from '../../../platform/database.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { storeOneTimeToken, takeOneTimeToken } from '../one-time-tokens.ts';
import type { Credential } from '../sessions.ts';

/** Lifetime of a ticket in seconds. */
export const TICKET_SECONDS = 30;

/** Creates a single-use ticket with which the holder of the presented token opens one stream. */
export async function createTicket(ctx: Ctx, credential: Credential): Promise<string> {
  const ticket = randomSecret();
  await command(ctx, async ({ sql, emit }) => {
    await storeOneTimeToken(sql, {
      hash: sha256(ticket),
      purpose: 'stream',
      user_id: ctx.caller.userId,
      data: credential,
      seconds: TICKET_SECONDS,
    });
    emit({ event_type: 'auth.ticket_created', data: {} });
  });
  return ticket;
}

/** Redeems a ticket. @returns the data it was created with, or undefined if it was used or has expired. */
export async function redeemTicket(db: Db, ticket: string): Promise<Credential | undefined> {
  return await takeOneTimeToken<Credential>(db, 'stream', sha256(ticket));
}
