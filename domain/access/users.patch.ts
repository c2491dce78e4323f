import { fn } from 'objection';
import { hashPassword, verifyPassword } from '../../platform/crypto.ts';
import { EstateError, invalidField, notFound } from '../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { checkIfMatch } from '../etag.ts';
import type { Change } from '../events/events.types.ts';
import { requireGoodPassword } from './access.passwords.ts';
import { throttle } from './access.throttle.ts';
import { requirePermission } from './policy.ts';
import { RoleModel, UserModel } from './users.model.ts';
import { readUser } from './users.queries.ts';

export interface UserPatch {
  display_name?: string;
  locale?: string;
  password?: string;
  /** Checked when given; wrong ones are throttled. */
  current_password?: string;
  role?: string;
  is_active?: boolean;
}

/**
 * Changes a user. One's own name, language and password need only a login, all else `admin.users`. A new
 * password, role or deactivation revokes the user's tokens at once.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, or `conflict` for the last administrator.
 */
export async function patchUser(ctx: Ctx, id: string, patch: UserPatch): Promise<void> {
  const own = ctx.caller.userId === id;
  if (!own || patch.role !== undefined || patch.is_active !== undefined) {
    requirePermission(ctx.caller, 'admin.users');
  }
  const before = await UserModel.query(ctx.db).findById(id);
  if (!before) throw notFound('user', id);
  if (patch.display_name !== undefined && patch.display_name.trim() === '') {
    throw invalidField('display_name', 'required', 'must not be blank');
  }
  let passwordHash: string | undefined;
  if (patch.password !== undefined) {
    await throttle(ctx.db, 'password', [`user ${id}`]);
    if (
      patch.current_password !== undefined &&
      !(await verifyPassword(patch.current_password, before.password_hash ?? ''))
    ) {
      throw invalidField('current_password', 'wrong', 'is not the present password');
    }
    requireGoodPassword(patch.password, before.email);
    passwordHash = await hashPassword(patch.password);
  }
  await command(ctx, async ({ sql, emit, raise }) => {
    const user = await UserModel.query(sql).findById(id).forUpdate();
    if (!user) throw notFound('user', id);
    if (ctx.ifMatch) checkIfMatch(ctx, await readUser(ctx, id, sql));
    const changes: Record<string, Change> = {};
    const values: Record<string, unknown> = {};
    const set = (field: 'display_name' | 'locale' | 'role' | 'is_active', value: unknown) => {
      if (value === undefined || value === user[field]) return;
      changes[field] = { old: user[field], new: value };
      values[field] = value;
    };
    set('display_name', patch.display_name?.trim());
    set('locale', patch.locale);
    set('role', patch.role);
    set('is_active', patch.is_active);
    if (
      values.role !== undefined &&
      !(await RoleModel.query(sql).findOne({ key: values.role, is_archived: false }))
    ) {
      throw invalidField('role', 'unknown_role', `there is no active role "${values.role}"`);
    }
    if (
      user.role === 'admin' &&
      user.is_active &&
      (values.role !== undefined || values.is_active === false)
    ) {
      await requireAnotherAdministrator(sql, id);
    }
    if (passwordHash !== undefined) {
      values.password_hash = passwordHash;
      emit({ event_type: 'auth.password_changed', data: { user_id: id } });
    }
    if (Object.keys(values).length === 0) return;
    const revokes = passwordHash !== undefined || values.role !== undefined || values.is_active !== undefined;
    await UserModel.query(sql)
      .findById(id)
      .patch({
        ...values,
        ...(revokes ? { token_version: user.token_version + 1 } : {}),
        updated_at: fn.now(),
      });
    if (Object.keys(changes).length > 0) emit({ event_type: 'user.updated', data: { user_id: id, changes } });
    raise('users');
  });
}

async function requireAnotherAdministrator(sql: Ctx['db'], id: string): Promise<void> {
  const others = await UserModel.query(sql)
    .where({ role: 'admin', is_active: true })
    .whereNot({ id })
    .select('id')
    .forUpdate();
  if (others.length === 0)
    throw new EstateError('conflict', 'The last active administrator cannot be removed.');
}
