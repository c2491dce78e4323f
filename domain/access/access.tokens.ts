import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';

/** Revokes the presented token, at once and in every process. */
export async function logout(ctx: Ctx): Promise<void> {
  const { userId, tokenId, tokenExpiresAt } = ctx.caller;
  if (!userId || !tokenId) return;
  await command(ctx, async ({ sql, emit }) => {
    await sql('revoked_tokens')
      .insert({ jti: tokenId, expires_at: tokenExpiresAt })
      .onConflict('jti')
      .ignore();
    emit({ event_type: 'auth.logout', data: {} });
  });
}
