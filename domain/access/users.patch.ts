import type { SecretBox } from '../../platform/crypto.ts';
import { query, type Sql, type Transaction } from '../../platform/database.ts';
import { EstateError, invalidField, notFound, requireText } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../kernel/context.ts';
import { readOne } from '../kernel/lists/lists.define.ts';
import {
  permissionsOfRole,
  requireControlOf,
  requireGrantable,
  requireReopening,
  requireSession,
} from '../kernel/permissions/grants.ts';
import { may, requirePermission, requireScope } from '../kernel/permissions/policy.ts';
import { requireRow } from '../kernel/resources/rows.ts';
import { continueLogin } from './access.impersonate.ts';
import type { TokenSubject } from './access.login.ts';
import { requireGoodPassword } from './access.passwords.ts';
import { throttle } from './access.throttle.ts';
import { hasOtherAdministrator, lockAdministrators, requireAnotherAdministrator } from './administrators.ts';
import { endMailedTokens } from './one-time-tokens.ts';
import { storePassword } from './passwords.store.ts';
import { lockTwoFactor, useCode } from './two-factor.store.ts';
import { serviceAccountError } from './users.create.ts';
import { isAdministrator, type SkippedUser } from './users.delete.ts';
import { User, type UserRow } from './users.model.ts';
import { userList } from './users.queries.ts';
import { emitUpdate, lockUsers, updateUser } from './users.store.ts';

/** A proof that the request is from the owner of an account, not from somebody with a stolen token. */
interface OwnerProof {
  current_password?: string;
  /** A code of the authenticator, or a recovery code. */
  code?: string;
}

/** Maximum age of a recent login, in seconds. */
const RECENT_LOGIN_SECONDS = 5 * 60;

/**
 * Checks the given password. It is slow, so it is called before anything is locked.
 * @param hash the hash of the account's password; null if it has none.
 * @throws EstateError `validation_failed` naming `current_password`.
 */
async function checkPresentPassword(ctx: Ctx, hash: string | null, proof: OwnerProof): Promise<void> {
  if (proof.current_password === undefined) return;
  if (!(await ctx.passwords.verify(proof.current_password, hash))) {
    throw invalidField('current_password', 'wrong', 'is not the present password');
  }
}

/**
 * Requires the current password, which was checked before, or a code of the confirmed second factor. An account without
 * either, such as one of single sign-on, needs a login within the last five minutes.
 * @throws EstateError `validation_failed` naming `current_password` or `code`, `recent_login_required`.
 */
async function requireOwnerProof(
  ctx: Ctx,
  sql: Sql,
  secrets: SecretBox,
  hash: string | null,
  proof: OwnerProof,
): Promise<void> {
  if (hash !== null && proof.current_password !== undefined) return;
  const factor = await lockTwoFactor(sql, ctx.caller.userId!);
  if (factor?.secret && proof.code !== undefined) {
    if (await useCode(sql, secrets, factor, proof.code)) return;
    throw invalidField('code', 'wrong', 'is not right, or was used already');
  }
  if (hash !== null) throw invalidField('current_password', 'required', 'is required to change this');
  const age = Date.now() / 1000 - (ctx.caller.loginAt ?? 0);
  if (age > RECENT_LOGIN_SECONDS) {
    const detail = 'Log in again: this needs a login of the last five minutes.';
    throw new EstateError('recent_login_required', detail);
  }
}

interface UserPatch extends OwnerProof, Partial<Pick<UserRow, (typeof plainFields)[number]>> {
  password?: string;
}

const plainFields = ['display_name', 'locale', 'email', 'role', 'is_active', 'auth_provider'] as const;

/**
 * Changes a user. The caller's own name, language and password only need a login, everything else `admin.users`; to set
 * the password, address or provider of an account, the caller needs its permissions. The caller's own password, address
 * and provider also need a proof. A new password, address, provider, role or state ends the user's logins at once.
 * @returns the data of a token that continues the current login, after a change of the caller's own password, address
 * or provider.
 * @throws EstateError `forbidden`, `session_required` for passwords and the own address, `recent_login_required`, `not_found`, `validation_failed`, `email_taken`,
 * `wrong_state`, or `conflict` for the last administrator.
 */
export async function patchUser(
  ctx: Ctx,
  secrets: SecretBox,
  id: string,
  patch: UserPatch,
): Promise<TokenSubject | undefined> {
  const own = ctx.caller.userId === id;
  const reserved = [patch.role, patch.is_active, patch.email, patch.auth_provider];
  if (!own || reserved.some((value) => value !== undefined)) requirePermission(ctx.caller, 'admin.users');
  else if (!may(ctx.caller, 'admin.users')) requireScope(ctx.caller, 'account');
  if (patch.display_name !== undefined) requireText(patch.display_name, 'display_name');
  const { hash, passwordHash } = await checkedPasswords(ctx, id, patch, own);
  return await command(ctx, async (work) => {
    const { sql } = work;
    if (patch.role !== undefined || patch.is_active === false) await lockAdministrators(sql);
    const user = await requireRow(sql, User, 'user', { id });
    if (ctx.ifMatch) checkIfMatch(ctx, await readOne(ctx, userList, 'user', id, sql));
    const values = changedValues(user, patch);
    const controls = passwordHash !== undefined || 'email' in values || 'auth_provider' in values;
    if (user.erased_at !== null && (controls || Object.keys(values).length > 0)) {
      throw new EstateError('wrong_state', 'The user was erased.');
    }
    if (user.kind === 'service' && controls) throw serviceAccountError();
    if (controls && own) await requireOwnChange(ctx, sql, secrets, { user, hash, patch });
    else if (controls) await requireControlOf(ctx, sql, user);
    await requireAllowedState(ctx, sql, user, values);
    const local = (values.auth_provider ?? user.auth_provider) === 'local';
    if (passwordHash !== undefined && !local) {
      throw new EstateError('wrong_state', 'The account logs in by single sign-on and has no password.');
    }
    if (Object.keys(values).length > 0) await saveChange(work, ctx, user, values, local);
    if (passwordHash !== undefined) await storePassword(work, user, passwordHash);
    // A user who also changes the own role or state has to log in again.
    const goesOn = controls && own && !('role' in values || 'is_active' in values);
    return goesOn ? await continueLogin(ctx, sql, user.token_version) : undefined;
  });
}

/**
 * Stores changed values, and revokes tokens accordingly. @param local whether the account has a local password from now
 * on.
 */
async function saveChange(
  work: Work,
  ctx: Ctx,
  user: UserRow,
  values: Partial<UserRow>,
  local: boolean,
): Promise<void> {
  // Tokens mailed to the old address, or for a password that is no longer used, become invalid.
  if ('email' in values || !local) await endMailedTokens(work.sql, [user.id]);
  await updateUser(work, user, local ? values : { ...values, password_hash: null, invited_at: null }, {
    revokes: endsLogins.some((field) => field in values),
  });
  if ('is_active' in values || 'role' in values) {
    await work.extensions.userRightsChanged(work, ctx, [user.id]);
  }
}

/** Requires the proofs for a change of the caller's own password, address or provider. */
async function requireOwnChange(
  ctx: Ctx,
  sql: Transaction,
  secrets: SecretBox,
  { user, hash, patch }: { user: UserRow; hash: string | null; patch: UserPatch },
): Promise<void> {
  requireSession(ctx.caller);
  // A concurrent request may have changed the password since it was checked.
  if (user.password_hash !== hash) throw invalidField('current_password', 'wrong', 'was changed just now');
  await requireOwnerProof(ctx, sql, secrets, hash, patch);
}

/** Requires the permissions of a new role or state, and another administrator if the account stops being one. */
async function requireAllowedState(
  ctx: Ctx,
  sql: Transaction,
  user: UserRow,
  values: Partial<UserRow>,
): Promise<void> {
  if (values.is_active) await requireReopening(ctx, sql, { ...user, ...values });
  if (typeof values.role === 'string') {
    requireGrantable(ctx.caller, await permissionsOfRole(sql, values.role));
  }
  if (isAdministrator(user) && !isAdministrator({ ...user, ...values })) {
    await requireAnotherAdministrator(sql, [user.id]);
  }
}

/** Fields whose change ends the logins of an account. */
const endsLogins = ['email', 'role', 'is_active', 'auth_provider'] as const;

interface Passwords {
  /** Hash of the current password. */
  hash: string | null;
  /** Hash of the new password. */
  passwordHash?: string;
}

/** Checks the current password if it is given, and hashes the new one, before anything is locked. */
async function checkedPasswords(ctx: Ctx, id: string, patch: UserPatch, own: boolean): Promise<Passwords> {
  const guarded = [patch.password, patch.current_password, patch.code, patch.email, patch.auth_provider];
  if (guarded.every((value) => value === undefined)) return { hash: null };
  // A token must not be usable to test passwords.
  if (patch.password !== undefined || (own && patch.current_password !== undefined)) {
    requireSession(ctx.caller);
  }
  if (own || patch.password !== undefined) await throttle(ctx.db, 'password', [`user ${id}`]);
  const user = await ctx.db('users').where({ id }).first('email', 'password_hash');
  if (!user) throw notFound('user', id);
  const hash: string | null = user.password_hash;
  // Nobody can test the password of another user.
  if (own) await checkPresentPassword(ctx, hash, patch);
  if (patch.password === undefined) return { hash };
  requireGoodPassword(patch.password, patch.email ?? user.email);
  return { hash, passwordHash: await ctx.passwords.hash(patch.password) };
}

function changedValues(user: UserRow, patch: UserPatch): Partial<UserRow> {
  const asked = { ...patch, ...(patch.display_name ? { display_name: patch.display_name.trim() } : {}) };
  return Object.fromEntries(
    plainFields
      .filter((field) => asked[field] !== undefined && asked[field] !== user[field])
      .map((field) => [field, asked[field]]),
  );
}

/** The caller's preferences of the user interface. */
export interface UiPreferences {
  dashboard_default_tab: 'overview' | 'workspace' | 'admin';
  /** Ids of saved views, in order. */
  pinned_views: string[];
  /** What else the interface stores, by its keys. */
  settings: Record<string, unknown>;
}

/** The maximum size of `settings` as JSON, in characters. */
const MAX_SETTINGS = 16 * 1024;

/** The caller's preferences of the user interface. */
export async function readUiPreferences(ctx: Ctx): Promise<UiPreferences> {
  const user = await ctx.db('users').where({ id: ctx.caller.userId }).first('ui_preferences');
  return { dashboard_default_tab: 'overview', pinned_views: [], settings: {}, ...user.ui_preferences };
}

/**
 * Changes the caller's preferences of the user interface; `settings` key by key, null removes one.
 * @returns the preferences after the change.
 * @throws EstateError `validation_failed` if the settings become too large.
 */
export async function patchUiPreferences(ctx: Ctx, patch: Partial<UiPreferences>): Promise<UiPreferences> {
  const id = ctx.caller.userId!;
  await command(ctx, async (work) => {
    const user = await requireRow(work.sql, User, 'user', { id });
    const stored = user.ui_preferences as Partial<UiPreferences>;
    const settings = Object.fromEntries(
      Object.entries({ ...stored.settings, ...patch.settings }).filter(([, value]) => value !== null),
    );
    if (JSON.stringify(settings).length > MAX_SETTINGS) {
      throw invalidField('settings', 'too_long', `have more than ${MAX_SETTINGS} characters as JSON`);
    }
    await updateUser(work, user, {
      ui_preferences: { ...stored, ...patch, ...(patch.settings && { settings }) },
    });
  });
  return await readUiPreferences(ctx);
}

interface UserUpdates {
  role?: string;
  is_active?: boolean;
}

/**
 * Sets the role or the state of many users, each with the checks of a single change. The caller and the last
 * administrator are skipped.
 * @returns the number of changed users, and the skipped ones.
 * @throws EstateError `forbidden`, `validation_failed` for an unknown role.
 */
export async function updateUsersInBulk(
  ctx: Ctx,
  ids: string[],
  updates: UserUpdates,
): Promise<{ updated: number; skipped: SkippedUser[] }> {
  requirePermission(ctx.caller, 'admin.users');
  return await command(ctx, async (work) => {
    const { sql } = work;
    if (updates.role !== undefined) requireGrantable(ctx.caller, await permissionsOfRole(sql, updates.role));
    await lockAdministrators(sql);
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
    const users = await lockUsers(sql, wanted);
    const skipped: SkippedUser[] = [];
    let changing: UserRow[] = [];
    for (const id of wanted) {
      const user = users.get(id);
      if (!user) skipped.push({ id, reason: 'unknown' });
      else if (id === ctx.caller.userId) skipped.push({ id, reason: 'self' });
      else if (user.erased_at !== null) skipped.push({ id, reason: 'erased' });
      else if (!differs(user, updates)) skipped.push({ id, reason: 'unchanged' });
      else changing.push(user);
    }
    const lost = changing.filter(
      (user) => isAdministrator(user) && !isAdministrator({ ...user, ...updates }),
    );
    const lostIds = lost.map(({ id }) => id);
    if (lost.length > 0 && !(await hasOtherAdministrator(sql, lostIds))) {
      skipped.push({ id: lost[0]!.id, reason: 'last_administrator' });
      changing = changing.filter((user) => user !== lost[0]);
    }
    if (changing.length === 0) return { updated: 0, skipped };
    for (const user of changing) {
      if (updates.is_active && !user.is_active) await requireReopening(ctx, sql, { ...user, ...updates });
    }
    const changed = changing.map(({ id }) => id);
    const rows = await query(sql).rows`update users set role = coalesce(${updates.role ?? null}, role),
      is_active = coalesce(${updates.is_active ?? null}, is_active),
         token_version = token_version + 1, updated_at = now()
       where id = any(${changed}::uuid[]) returning to_jsonb(users) as row`;
    const after = new Map(rows.map(({ row }: { row: UserRow }) => [row.id, row]));
    for (const before of changing) emitUpdate(work, before, after.get(before.id) as UserRow);
    await work.extensions.userRightsChanged(work, ctx, changed);
    work.raise('users');
    return { updated: changing.length, skipped };
  });
}

const differs = (user: UserRow, { role, is_active }: UserUpdates): boolean =>
  (role !== undefined && role !== user.role) || (is_active !== undefined && is_active !== user.is_active);
