import type { Sql } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { runList } from '../lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';
import { appPermissions, permissionGroups } from './permissions.data.ts';
import { UserModel } from './users.model.ts';

const userList: ListSpec = {
  name: 'users',
  from: 'users u',
  id: 'u.id',
  idType: 'uuid',
  sorts: {
    display_name: { sql: 'fold(u.display_name)', type: 'text' },
    email: { sql: 'lower(u.email)', type: 'text' },
    role: { sql: 'u.role', type: 'text' },
    created_at: { sql: 'u.created_at', type: 'timestamptz', immutable: true },
    last_login: { sql: 'u.last_login', type: 'timestamptz' },
  },
  defaultSort: 'display_name',
  defaultDir: 'asc',
  search: "fold(u.display_name || ' ' || u.email)",
  members: {
    id: 'u.id',
    email: 'u.email',
    display_name: 'u.display_name',
    role: 'u.role',
    is_active: 'u.is_active',
    locale: 'u.locale',
    auth_provider: 'u.auth_provider',
    has_password: 'u.password_hash is not null',
    pending_setup: "u.password_hash is null and u.auth_provider = 'local'",
    ui_preferences: 'u.ui_preferences',
    created_at: 'utc(u.created_at)',
    last_login: 'utc(u.last_login)',
  },
};

const roleList: ListSpec = {
  name: 'roles',
  from: 'roles r',
  id: 'r.id',
  idType: 'uuid',
  sorts: {
    sort_order: { sql: 'r.sort_order', type: 'numeric' },
    key: { sql: 'r.key', type: 'text', immutable: true },
    label: { sql: 'fold(r.label)', type: 'text' },
  },
  defaultSort: 'sort_order',
  defaultDir: 'asc',
  search: "fold(r.key || ' ' || r.label)",
  members: {
    id: 'r.id',
    key: 'r.key',
    label: 'r.label',
    description: 'r.description',
    is_system: 'r.is_system',
    is_default: 'r.is_default',
    is_archived: 'r.is_archived',
    color: 'r.color',
    permissions: 'r.permissions',
    sort_order: 'r.sort_order',
    created_at: 'utc(r.created_at)',
    updated_at: 'utc(r.updated_at)',
    archived_at: 'utc(r.archived_at)',
    archived_by: 'r.archived_by',
    user_count: '(select count(*) from users u where u.role = r.key)',
  },
};

async function one(sql: Sql, spec: ListSpec, where: Condition): Promise<JsonText | undefined> {
  const members = Object.entries(spec.members).map(([name, sql]) => `'${name}', ${sql}`);
  const { rows } = await sql.raw(
    `select json_build_object(${members.join(', ')})::text as item from ${spec.from} where ${where.sql}`,
    where.bindings as never,
  );
  return rows[0]?.item;
}

/** The users; deactivated ones only when asked for. */
export async function listUsers(
  ctx: Ctx,
  params: ListParams & { include_inactive: boolean },
): Promise<JsonText> {
  return await runList(
    ctx.db,
    userList,
    params.include_inactive ? [] : [{ sql: 'u.is_active', bindings: [] }],
    params,
  );
}

/** One user; `sql` may be a command's transaction. @throws EstateError `not_found`. */
export async function readUser(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  const text = await one(sql, userList, { sql: 'u.id = ?', bindings: [id] });
  if (!text) throw notFound('user', id);
  return text;
}

/** The roles; archived ones only when asked for. */
export async function listRoles(
  ctx: Ctx,
  params: ListParams & { include_archived: boolean },
): Promise<JsonText> {
  return await runList(
    ctx.db,
    roleList,
    params.include_archived ? [] : [{ sql: 'not r.is_archived', bindings: [] }],
    params,
  );
}

/** One role. @throws EstateError `not_found`. */
export async function readRole(ctx: Ctx, key: string): Promise<JsonText> {
  const text = await one(ctx.db, roleList, { sql: 'r.key = ?', bindings: [key] });
  if (!text) throw notFound('role', key);
  return text;
}

/** Every application permission by group. */
export function permissionCatalogue(): Record<
  string,
  { label: string; permissions: Record<string, string> }
> {
  const groups: Record<string, { label: string; permissions: Record<string, string> }> = {};
  for (const [key, text] of Object.entries(appPermissions)) {
    const group = key.split('.')[0]!;
    groups[group] ??= { label: permissionGroups[group]!, permissions: {} };
    groups[group].permissions[key] = text;
  }
  return groups;
}

/** The caller's own account with the effective permissions. */
export async function readMe(ctx: Ctx): Promise<Record<string, unknown>> {
  const row = await UserModel.query(ctx.db)
    .findById(ctx.caller.userId!)
    .withGraphFetched('roleRow')
    .throwIfNotFound();
  const held = ctx.caller.permissions;
  return {
    id: row.id,
    email: row.email,
    display_name: row.display_name,
    role: row.role,
    role_label: row.roleRow!.label,
    role_color: row.roleRow!.color,
    is_active: row.is_active,
    locale: row.locale,
    permissions:
      held === '*'
        ? { '*': true }
        : Object.fromEntries(Object.keys(appPermissions).map((key) => [key, held.has(key as never)])),
    ui_preferences: row.ui_preferences,
    impersonated_role: null,
    impersonated_role_label: null,
  };
}
