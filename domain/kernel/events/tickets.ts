import { randomSecret, sha256 } from '../../../platform/crypto.ts';
import type { Db } from '../../../platform/database.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { storeOneTimeToken, takeOneTimeToken } from '../one-time-tokens.ts';
import type { Credential } from '../sessions.ts';

/** Lifetime of a ticket in seconds. */
const TICKET_SECONDS = 30;

/** What a ticket opens: the stream of events, or the download of one file. */
export type TicketPurpose = 'stream' | 'download';

interface Ticket {
  credential: Credential;
  /** The only path that it opens. */
  path: string;
}

/** Creates a single-use ticket with which the holder of the presented token opens the path once. */
export async function createTicket(
  ctx: Ctx,
  credential: Credential,
  purpose: TicketPurpose,
  path: string,
): Promise<{ ticket: string; expires_in: number }> {
  const ticket = randomSecret();
  await command(ctx, async ({ sql, emit }) => {
    await storeOneTimeToken(sql, {
      hash: sha256(ticket),
      purpose,
      user_id: ctx.caller.userId,
      data: { credential, path } satisfies Ticket,
      seconds: TICKET_SECONDS,
    });
    emit({ event_type: 'auth.ticket_created', data: {} });
  });
  return { ticket, expires_in: TICKET_SECONDS };
}

/**
 * Redeems a ticket, also if it is for another path.
 * @returns the credential for which it was created; undefined if it was used, has expired or is for another path.
 */
export async function redeemTicket(
  db: Db,
  ticket: string,
  purpose: TicketPurpose,
  path: string,
): Promise<Credential | undefined> {
  const found = await takeOneTimeToken<Ticket>(db, purpose, sha256(ticket));
  return found?.path === path ? found.credential : undefined;
}
