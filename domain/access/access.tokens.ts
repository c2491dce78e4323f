import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import type { TokenSubject } from './access.login.ts';

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

/** What a fresh token for the caller is made from; the presented one stays valid until it ends. */
export async function refresh(ctx: Ctx): Promise<TokenSubject> {
  return await command(ctx, async ({ sql, emit }) => {
    const user = await sql('users').where({ id: ctx.caller.userId }).first('id', 'role', 'token_version');
    emit({ event_type: 'auth.token_refreshed', data: {} });
    return { userId: user.id, role: user.role, tokenVersion: user.token_version };
  });
}
