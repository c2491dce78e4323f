import { EstateError } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { permissionsOfRole, requireGrantable, requireSession } from '../kernel/permissions/grants.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';
import { limited, type TokenSubject } from './access.login.ts';
import { lockTwoFactor } from './two-factor.store.ts';

/**
 * Lets an administrator look at the service as another role: with its permissions, and still under the own name, which
 * stands in every event together with the role.
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

/** Goes back to the own role; the token that was shown ends when it carried another. */
export async function stopImpersonating(ctx: Ctx): Promise<TokenSubject> {
  requireLogin(ctx);
  const { impersonatedRole: role, tokenId, tokenExpiresAt } = ctx.caller;
  return await command(ctx, async ({ sql, emit }) => {
    const subject = await subjectOf(ctx, sql);
    if (role === undefined) {
      emit({ event_type: 'auth.token_refreshed', data: {} });
      return subject;
    }
    await sql('revoked_tokens')
      .insert({ jti: tokenId, expires_at: tokenExpiresAt })
      .onConflict('jti')
      .ignore();
    emit({ event_type: 'auth.impersonation_stopped', data: { user_id: subject.userId, role } });
    return subject;
  });
}

/**
 * What a fresh token for the caller is made from; the presented one stays valid until it ends. Where a second factor is
 * demanded by now and the account has none, the fresh token only serves to set one up.
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

/** @throws EstateError `session_required` for tokens that no login gave. */
function requireLogin(ctx: Ctx): void {
  requireSession({ ...ctx.caller, impersonatedRole: undefined });
}

/** The caller as of now: the time of the login stays. */
async function subjectOf(
  ctx: Ctx,
  sql: Ctx['db'],
  tokenVersion = ctx.caller.tokenVersion,
): Promise<TokenSubject> {
  const user = await sql('users')
    .where({ id: ctx.caller.userId, is_active: true })
    .forUpdate()
    .first('id', 'role', 'token_version', 'auth_provider');
  // revoked between the look at the token and here
  if (!user || user.token_version !== tokenVersion) throw revoked();
  const subject: TokenSubject = {
    userId: user.id,
    role: user.role,
    tokenVersion: user.token_version,
    loginAt: ctx.caller.loginAt!,
  };
  // the provider of single sign-on asks for a second factor, or does not
  if (user.auth_provider === 'sso' || (await lockTwoFactor(sql, user.id))?.secret) return subject;
  return await limited(sql, subject);
}

const revoked = () => new EstateError('unauthorized', 'The access token was revoked.');

/**
 * What a token is made from that goes on with the present login after the caller's own change has ended all tokens.
 * @param before the user's token version before the change.
 * @throws EstateError `unauthorized` when the present login had ended before.
 */
export async function continueLogin(ctx: Ctx, sql: Ctx['db'], before: number): Promise<TokenSubject> {
  if (before !== ctx.caller.tokenVersion) throw revoked();
  const user = await sql('users').where({ id: ctx.caller.userId }).first('token_version');
  return await subjectOf(ctx, sql, user.token_version);
}
