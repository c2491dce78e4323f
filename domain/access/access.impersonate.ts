import { EstateError } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { permissionsOfRole, requireGrantable, requireSession } from '../kernel/permissions/grants.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';
import { limited, type TokenSubject } from './access.login.ts';
import { lockTwoFactor } from './two-factor.store.ts';

/**
 * Impersonates a role: an administrator uses the service with the role's permissions, under their own name; events
 * contain the user and the role.
 * @throws EstateError `forbidden`, `session_required`, `conflict` for `admin` and the own role, `validation_failed`.
 */
export async function impersonate(ctx: Ctx, role: string): Promise<TokenSubject> {
  requirePermission(ctx.caller, 'admin.impersonate');
  requireSession(ctx.caller);
  return await command(ctx, async ({ sql, emit }) => {
    const permissions = await permissionsOfRole(sql, role);
    if (role === 'admin' || permissions['*']) {
      throw new EstateError('conflict', 'Nobody looks at the service as an administrator.');
    }
    if (role === ctx.caller.role) throw new EstateError('conflict', 'That is your own role.');
    requireGrantable(ctx.caller, permissions);
    const subject = await subjectOf(ctx, sql);
    emit({ event_type: 'auth.impersonation_started', data: { user_id: subject.userId, role } });
    return { ...subject, impersonatedRole: role };
  });
}

/** Ends the impersonation of a role; the presented token is revoked if it impersonated one. */
export async function stopImpersonating(ctx: Ctx): Promise<TokenSubject> {
  requireLogin(ctx);
  const { impersonatedRole: role } = ctx.caller;
  return await command(ctx, async ({ sql, emit }) => {
    const subject = await subjectOf(ctx, sql);
    if (role === undefined) {
      emit({ event_type: 'auth.token_refreshed', data: {} });
      return subject;
    }
    await revokePresented(ctx, sql);
    emit({ event_type: 'auth.impersonation_stopped', data: { user_id: subject.userId, role } });
    return subject;
  });
}

/** Revokes the presented token, at once and in every process. */
export async function logout(ctx: Ctx): Promise<void> {
  if (!ctx.caller.userId || !ctx.caller.tokenId) return;
  await command(ctx, async ({ sql, emit }) => {
    await revokePresented(ctx, sql);
    emit({ event_type: 'auth.logout', data: {} });
  });
}

async function revokePresented({ caller: { tokenId, tokenExpiresAt } }: Ctx, sql: Ctx['db']): Promise<void> {
  await sql('revoked_tokens').insert({ jti: tokenId, expires_at: tokenExpiresAt }).onConflict('jti').ignore();
}

/**
 * The data of a new token for the caller; the presented one stays valid until it expires. If a second factor has become
 * mandatory and the account has none, the new token can only be used to set one up.
 */
export async function refresh(ctx: Ctx): Promise<TokenSubject> {
  requireLogin(ctx);
  const { impersonatedRole } = ctx.caller;
  return await command(ctx, async ({ sql, emit }) => {
    const subject = await subjectOf(ctx, sql);
    emit({ event_type: 'auth.token_refreshed', data: {} });
    return { ...subject, ...(impersonatedRole ? { impersonatedRole } : {}) };
  });
}

/** @throws EstateError `session_required` for tokens that are not from a login. */
function requireLogin(ctx: Ctx): void {
  requireSession({ ...ctx.caller, impersonatedRole: undefined });
}

/** The current state of the caller; the time of the login is unchanged. */
async function subjectOf(
  ctx: Ctx,
  sql: Ctx['db'],
  tokenVersion = ctx.caller.tokenVersion,
): Promise<TokenSubject> {
  const user = await sql('users')
    .where({ id: ctx.caller.userId, is_active: true })
    .forUpdate()
    .first('id', 'role', 'token_version', 'auth_provider');
  // Revoked since the token was checked.
  if (!user || user.token_version !== tokenVersion) throw revoked();
  const subject: TokenSubject = {
    userId: user.id,
    role: user.role,
    tokenVersion: user.token_version,
    loginAt: ctx.caller.loginAt!,
  };
  // The single sign-on provider is responsible for a second factor.
  if (user.auth_provider === 'sso' || (await lockTwoFactor(sql, user.id))?.secret) return subject;
  return await limited(sql, subject);
}

const revoked = () => new EstateError('unauthorized', 'The access token was revoked.');

/**
 * The data of a token that continues the current login after the caller's own change has revoked all tokens.
 * @param before the user's token version before the change.
 * @throws EstateError `unauthorized` if the current login had ended before.
 */
export async function continueLogin(ctx: Ctx, sql: Ctx['db'], before: number): Promise<TokenSubject> {
  if (before !== ctx.caller.tokenVersion) throw revoked();
  const user = await sql('users').where({ id: ctx.caller.userId }).first('token_version');
  return await subjectOf(ctx, sql, user.token_version);
}
