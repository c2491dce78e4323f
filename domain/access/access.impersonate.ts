import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Caller, Ctx } from '../kernel/context.ts';
import {
  permissionsOfRole,
  requireGrantable,
  requireLogin,
  requireSession,
} from '../kernel/permissions/grants.ts';
import { requirePermission } from '../kernel/permissions/policy.ts';
import { requireRow } from '../kernel/resources/rows.ts';
import { limited, type TokenSubject } from './access.login.ts';
import { revokeApiTokensOf } from './api-tokens.commands.ts';
import { lockTwoFactor } from './two-factor.store.ts';
import { User } from './users.model.ts';
import { updateUser } from './users.store.ts';
import { revokeWebSession, WebSession } from './web-sessions.ts';

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

/**
 * Ends the impersonation of a role; the presented token is revoked if it impersonated one. A web session continues, with
 * another cookie.
 */
export async function stopImpersonating(ctx: Ctx): Promise<TokenSubject> {
  requireLogin(ctx.caller);
  const { impersonatedRole: role } = ctx.caller;
  return await command(ctx, async ({ sql, emit }) => {
    const subject = await subjectOf(ctx, sql);
    if (role === undefined) {
      emit({ event_type: 'auth.token_refreshed', data: {} });
      return subject;
    }
    if (!ctx.caller.isWebSession) await revokeLogin(sql, ctx.caller);
    emit({ event_type: 'auth.impersonation_stopped', data: { user_id: subject.userId, role } });
    return subject;
  });
}

/** Revokes the presented token, at once and in every process. */
export async function logout(ctx: Ctx): Promise<void> {
  if (!ctx.caller.userId || !ctx.caller.tokenId) return;
  await command(ctx, async ({ sql, emit }) => {
    await revokeLogin(sql, ctx.caller);
    emit({ event_type: 'auth.logout', data: {} });
  });
}

/** Revokes the caller's token; of a web session all cookies, also those that are being sent. */
async function revokeLogin(sql: Sql, { tokenId, tokenExpiresAt, isWebSession }: Caller): Promise<void> {
  if (isWebSession) return await revokeWebSession(sql, tokenId!);
  await sql('revoked_tokens').insert({ jti: tokenId, expires_at: tokenExpiresAt }).onConflict('jti').ignore();
}

/** Ends one of the caller's web sessions, at once and in every process. @throws EstateError `session_required`, `not_found`. */
export async function endWebSession(ctx: Ctx, id: string): Promise<void> {
  requireLogin(ctx.caller);
  await command(ctx, async ({ sql, emit }) => {
    await requireRow(sql, WebSession, 'session', { id, user_id: ctx.caller.userId! });
    await revokeWebSession(sql, id);
    emit({ event_type: 'auth.logout', data: { session_id: id } });
  });
}

/**
 * Ends all logins of the caller: web sessions and access tokens.
 * @param options.api_tokens whether the caller's personal tokens are revoked as well.
 * @throws EstateError `session_required`.
 */
export async function logoutEverywhere(ctx: Ctx, options: { api_tokens: boolean }): Promise<void> {
  requireLogin(ctx.caller);
  await command(ctx, async (work) => {
    const user = await requireRow(work.sql, User, 'user', { id: ctx.caller.userId! });
    await updateUser(work, user, {}, { revokes: true });
    if (options.api_tokens) await revokeApiTokensOf(work, user.id);
    work.emit({ event_type: 'auth.logout', data: { everywhere: true } });
  });
}

/**
 * The data of a new token for the caller; the presented one stays valid until it expires. If a second factor has become
 * mandatory and the account has none, the new token can only be used to set one up.
 */
export async function refresh(ctx: Ctx): Promise<TokenSubject> {
  requireLogin(ctx.caller);
  const { impersonatedRole } = ctx.caller;
  return await command(ctx, async ({ sql, emit }) => {
    const subject = await subjectOf(ctx, sql);
    emit({ event_type: 'auth.token_refreshed', data: {} });
    return { ...subject, ...(impersonatedRole ? { impersonatedRole } : {}) };
  });
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
