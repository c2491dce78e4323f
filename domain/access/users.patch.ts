import { EstateError, invalidField, notFound } from '../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { checkIfMatch } from '../etag.ts';
import { requireGoodPassword } from './access.passwords.ts';
import { throttle } from './access.throttle.ts';
import { keepAnAdministrator, lockAdministrators } from './administrators.ts';
import {
  permissionsOfRole,
  requireControlOf,
  requireGrantable,
  requireReopening,
  requireSession,
} from './grants.ts';
import { storePassword } from './passwords.store.ts';
import { may, requirePermission, requireScope } from './policy.ts';
import { followRights } from './rights.followed.ts';
import { onlyForPeople } from './users.create.ts';
import { isAdministrator } from './users.delete.ts';
import { readUser } from './users.queries.ts';
import { lockUsers, type UserRow, updateUser } from './users.store.ts';

export interface UserPatch {
  display_name?: string;
  locale?: string;
  password?: string;
  /** Checked when given; wrong ones are throttled. */
  current_password?: string;
  email?: string;
  role?: string;
  is_active?: boolean;
  auth_provider?: 'local' | 'sso';
}

const plainFields = ['display_name', 'locale', 'email', 'role', 'is_active', 'auth_provider'] as const;

/**
 * Changes a user. One's own name, language and password need only a login, all else `admin.users`; whoever sets the
 * password, address or provider of an account holds what it holds. A new password, role or state ends the user's logins
 * at once.
 * @throws EstateError `forbidden`, `session_required` for passwords, `not_found`, `validation_failed`, `email_taken`,
 * `wrong_state`, or `conflict` for the last administrator.
 */
export async function patchUser(ctx: Ctx, id: string, patch: UserPatch): Promise<void> {
  const own = ctx.caller.userId === id;
  const reserved = [patch.role, patch.is_active, patch.email, patch.auth_provider];
  if (!own || reserved.some((value) => value !== undefined)) requirePermission(ctx.caller, 'admin.users');
  else if (!may(ctx.caller, 'admin.users')) requireScope(ctx.caller, 'account');
  if (patch.display_name !== undefined && patch.display_name.trim() === '') {
    throw invalidField('display_name', 'required', 'must not be blank');
  }
  const passwordHash = await checkedPassword(ctx, id, patch);
  await command(ctx, async (work) => {
    const { sql } = work;
    const losing = patch.role !== undefined || patch.is_active === false;
    if (losing) await lockAdministrators(sql);
    const user = (await lockUsers(sql, [id])).get(id);
    if (!user) throw notFound('user', id);
    if (ctx.ifMatch) checkIfMatch(ctx, await readUser(ctx, id, sql));
    const values = changedValues(user, patch);
    const controls = passwordHash !== undefined || 'email' in values || 'auth_provider' in values;
    if (user.erased_at !== null && (controls || Object.keys(values).length > 0)) {
      throw new EstateError('wrong_state', 'The user was erased.');
    }
    if (user.kind === 'service' && controls) throw onlyForPeople();
    if (!own && controls) await requireControlOf(ctx, sql, user);
    if (values.is_active) await requireReopening(ctx, sql, { ...user, ...values });
    if (typeof values.role === 'string') {
      requireGrantable(ctx.caller, await permissionsOfRole(sql, values.role));
    }
    if (isAdministrator(user) && !isAdministrator({ ...user, ...values })) {
      await keepAnAdministrator(sql, [id]);
    }
    const local = (values.auth_provider ?? user.auth_provider) === 'local';
    if (passwordHash !== undefined && !local) {
      throw new EstateError('wrong_state', 'The account logs in by single sign-on and has no password.');
    }
    if (Object.keys(values).length > 0) {
      // what was mailed to the old address, or for a password that is no longer used, stops working
      if ('email' in values || !local) await sql('one_time_tokens').where({ user_id: id }).delete();
      await updateUser(work, user, local ? values : { ...values, password_hash: null, invited_at: null }, {
        revokes: 'role' in values || 'is_active' in values || 'auth_provider' in values,
      });
      if ('is_active' in values || 'role' in values) await followRights(work, ctx, [id]);
    }
    if (passwordHash !== undefined) await storePassword(work, user, passwordHash);
  });
}

/** The hash of the new password once it is allowed and good, before anything is locked. */
async function checkedPassword(ctx: Ctx, id: string, patch: UserPatch): Promise<string | undefined> {
  if (patch.password === undefined) return undefined;
  requireSession(ctx.caller);
  await throttle(ctx.db, 'password', [`user ${id}`]);
  const user = await ctx.db('users').where({ id }).first('email', 'password_hash');
  if (!user) throw notFound('user', id);
  if (
    patch.current_password !== undefined &&
    !(await ctx.passwords.verify(patch.current_password, user.password_hash))
  ) {
    throw invalidField('current_password', 'wrong', 'is not the present password');
  }
  requireGoodPassword(patch.password, patch.email ?? user.email);
  return await ctx.passwords.hash(patch.password);
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
}

/** The caller's preferences of the user interface. */
export async function readUiPreferences(ctx: Ctx): Promise<UiPreferences> {
  const user = await ctx.db('users').where({ id: ctx.caller.userId }).first('ui_preferences');
  return { dashboard_default_tab: 'overview', ...user.ui_preferences };
}

/** Changes the caller's preferences of the user interface. @returns them as they are now. */
export async function patchUiPreferences(ctx: Ctx, patch: Partial<UiPreferences>): Promise<UiPreferences> {
  const id = ctx.caller.userId!;
  await command(ctx, async (work) => {
    const user = (await lockUsers(work.sql, [id])).get(id)!;
    const now = { ...(user.ui_preferences as UiPreferences), ...patch };
    await updateUser(work, user, { ui_preferences: JSON.stringify(now) });
  });
  return await readUiPreferences(ctx);
}
