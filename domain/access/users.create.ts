import { query, type Sql } from '../../platform/database.ts';
import { EstateError, invalidField, notFound, requireText } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Caller, Ctx, Work } from '../kernel/context.ts';
import { readOne } from '../kernel/lists/lists.define.ts';
import type { JsonText } from '../kernel/lists/lists.types.ts';
import { enqueueMails, mailConfigured, requireMailAddresses } from '../kernel/mail/mail.enqueue.ts';
import {
  INVITABLE_ROLES,
  permissionsOfRole,
  refusalOf,
  requireControlOf,
  requireGrantable,
  requireSession,
} from '../kernel/permissions/grants.ts';
import { may, requirePermission } from '../kernel/permissions/policy.ts';
import { requireRow } from '../kernel/resources/rows.ts';
import { invitationLinks, invitationMails } from './access.mails.ts';
import { requireGoodPassword } from './access.passwords.ts';
import { issueMailedTokens } from './one-time-tokens.ts';
import { deleteUserRows } from './users.delete.ts';
import { User, type UserRow } from './users.model.ts';
import { serviceAccountList, userList } from './users.queries.ts';
import { insertUser } from './users.store.ts';

export interface UserInput {
  email: string;
  display_name: string;
  /** Absent for a local account: an invitation, with which the user sets the password. */
  password?: string | null;
  role: string;
  /** Whether an invitation is mailed. */
  send_email: boolean;
  auth_provider?: 'local' | 'sso' | null;
}

/**
 * Creates or invites a user. Needs `admin.users`, or `users.invite` for members and viewers; other roles can only be
 * assigned by callers who have their permissions.
 * @throws EstateError `forbidden`, `session_required` with a password, `email_taken`, `validation_failed`.
 */
export async function createUser(ctx: Ctx, input: UserInput): Promise<{ text: JsonText; told: Told }> {
  const open = INVITABLE_ROLES.includes(input.role);
  if (!may(ctx.caller, 'admin.users')) requirePermission(ctx.caller, open ? 'users.invite' : 'admin.users');
  const displayName = requireText(input.display_name, 'display_name');
  const provider = input.auth_provider ?? 'local';
  const password = input.password ?? undefined;
  if (password !== undefined) {
    requireSession(ctx.caller);
    if (provider === 'sso') throw invalidField('password', 'not_offered', 'single sign-on needs none');
    requireGoodPassword(password, input.email);
  }
  const passwordHash = password === undefined ? null : await ctx.passwords.hash(password);
  const invited = provider === 'local' && passwordHash === null;
  return await command(ctx, async (work) => {
    const permissions = await permissionsOfRole(work.sql, input.role);
    // A user who knows the password can act as the account.
    if (!open || passwordHash !== null) requireGrantable(ctx.caller, permissions);
    const user = await insertUser(work, {
      email: input.email,
      display_name: displayName,
      role: input.role,
      password_hash: passwordHash,
      auth_provider: provider,
      invited_at: invited ? new Date().toISOString() : null,
    });
    const text = await readOne(ctx, userList, 'user', user.id, work.sql);
    return { text, told: invited ? await invite(work, ctx, user, input.send_email) : {} };
  });
}

/** What a response says about an invitation. */
export interface Told {
  /** Of a requested mail: whether it is sent. */
  mail_configured?: boolean;
  setup_token?: string;
  setup_link?: string;
  /** Of an invitation that was neither mailed nor handed over. */
  setup_missing?: string;
}

/** Why an invitation reaches nobody, and what to do. @param reason why the caller gets no link. */
export const setupMissing = (reason: string, isMailed: boolean): string =>
  `${isMailed ? 'No mail was sent, since no mail server is configured' : 'No mail was asked for'}, and you do not get the link to set the password: ${reason} ${
    isMailed
      ? 'Set up mail (PATCH /api/v1/settings/email)'
      : 'Mail it (POST /api/v1/users/invitations/{id}/resend)'
  }, or let a user who has all rights of the account resend the invitation and hand over its link.`;

/** Why API tokens get no links. */
export const LINK_NEEDS_LOGIN = 'API tokens get none.';

/**
 * Mails an invitation. If none was requested, or no mail server is configured, the caller gets the token to hand over, if
 * the caller has all rights of the account.
 */
async function invite(work: Work, ctx: Ctx, user: UserRow, isMailed: boolean): Promise<Told> {
  const { sql } = work;
  const told: Told = isMailed ? { mail_configured: await mailConfigured(sql) } : {};
  if (told.mail_configured) {
    await mailInvitations(work, ctx, [user]);
    return told;
  }
  // the caller, to whom the token is shown, could act as the user anyway
  const refusal = ctx.caller.apiTokenId
    ? LINK_NEEDS_LOGIN
    : await refusalOf(() => requireControlOf(ctx, sql, user));
  if (refusal) return { ...told, setup_missing: setupMissing(refusal, isMailed) };
  const [shown] = await showInvitations(sql, ctx.caller, [user.id]);
  return { ...told, ...shown };
}

/**
 * Creates the tokens of invitations for a caller who hands them over.
 * @returns them with their links, in the order of the users.
 */
export async function showInvitations(sql: Sql, caller: Caller, userIds: readonly string[]): Promise<Told[]> {
  const tokens = await issueMailedTokens(sql, 'invitation', userIds, caller);
  const link = await invitationLinks(sql);
  return tokens.map((setup_token) => ({ setup_token, setup_link: link(setup_token) }));
}

/** Mails invitations to users. @throws EstateError `validation_failed` for an address to which no mail can be sent. */
export async function mailInvitations({ sql }: Work, ctx: Ctx, users: readonly UserRow[]): Promise<void> {
  requireMailAddresses(users.map(({ email }) => email));
  const tokens = await issueMailedTokens(
    sql,
    'invitation',
    users.map(({ id }) => id),
  );
  const invited = users.map((to, n) => ({ to, token: tokens[n]! }));
  await enqueueMails(sql, ctx, await invitationMails(sql, invited));
}

/**
 * Mails an invitation again, or without a mail server returns its new token; earlier tokens become invalid.
 * @throws EstateError `forbidden`, `not_found` if there is no such pending invitation.
 */
export async function resendInvitation(ctx: Ctx, id: string): Promise<Told> {
  requirePermission(ctx.caller, 'admin.users');
  return await command(ctx, async (work) => {
    const told = await invite(work, ctx, await lockInvited(work, id), true);
    // an invitation that reaches nobody was not sent
    if (!told.setup_missing) work.emit({ event_type: 'user.invitation_sent', data: { id } });
    return told;
  });
}

/**
 * Withdraws an invitation: the account is deleted.
 * @throws EstateError `forbidden`, `not_found` if there is no such pending invitation.
 */
export async function withdrawInvitation(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'admin.users');
  await command(ctx, async (work) => {
    await deleteUserRows(work, ctx, [await lockInvited(work, id)]);
  });
}

async function lockInvited(work: Work, id: string): Promise<UserRow> {
  const user = await requireRow(work.sql, User, 'invitation', { id });
  if (!user.is_active || user.invited_at === null || user.password_hash !== null) {
    throw notFound('invitation', id);
  }
  return user;
}

/**
 * Creates a service account: it has tokens, and no password.
 * @returns its id.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export async function createServiceAccount(
  ctx: Ctx,
  input: { display_name: string; role: string; owner_id?: string | null },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.users');
  const displayName = requireText(input.display_name, 'display_name');
  return await command(ctx, async (work) => {
    requireGrantable(ctx.caller, await permissionsOfRole(work.sql, input.role));
    const ownerId = input.owner_id ?? ctx.caller.userId;
    const owner = await work.sql('users').where({ id: ownerId, kind: 'person' }).forShare().first('id');
    if (!owner) throw invalidField('owner_id', 'unknown_user', `there is no person ${ownerId}`);
    const id = await query(work.sql).value<string>`select uuidv7()`;
    await insertUser(work, {
      id,
      // A domain that never receives mail (RFC 2606).
      email: `service-${id}@service.invalid`,
      display_name: displayName,
      role: input.role,
      kind: 'service',
      owner_id: owner.id,
    });
    return await readOne(ctx, serviceAccountList, 'service account', id, work.sql);
  });
}

/** The error for operations that are not available to service accounts. */
export const serviceAccountError = (): EstateError =>
  new EstateError('wrong_state', 'A service account has tokens, and no password.');
