import { embed, fragment, type Sql } from '../../platform/database.ts';
import type { Ctx } from '../kernel/context.ts';
import { readItem, runList } from '../kernel/lists/lists.run.ts';
import type { Condition, Fragment, JsonText, ListParams, ListSpec } from '../kernel/lists/lists.types.ts';
import { permissionKeys } from '../kernel/permissions/permissions.data.ts';
import { may, requirePermission } from '../kernel/permissions/policy.ts';
import { Role } from './roles.model.ts';
import { UserModel } from './users.model.ts';

/** Members that are only visible to the user themselves and to callers with `admin.users`. */
const reserved = (ctx: Ctx, sql: string): string | Fragment =>
  may(ctx.caller, 'admin.users')
    ? sql
    : fragment`case when u.id = ${ctx.caller.userId}::uuid then ${embed(sql)} end`;

const userList = (ctx: Ctx): ListSpec => ({
  name: 'users',
  from: 'users u',
  id: 'u.id',
  sorts: {
    display_name: { sql: 'fold(u.display_name)', type: 'text' },
    email: { sql: 'lower(u.email)', type: 'text' },
    role: { sql: 'u.role', type: 'text' },
    created_at: { sql: 'u.created_at', type: 'timestamptz', immutable: true },
    last_login: { sql: 'u.last_login', type: 'timestamptz' },
  },
  defaultSort: 'display_name',
  search: "fold(u.display_name || ' ' || u.email)",
  members: {
    id: 'u.id',
    email: 'u.email',
    display_name: 'u.display_name',
    role: 'u.role',
    is_active: 'u.is_active',
    locale: 'u.locale',
    kind: 'u.kind',
    auth_provider: 'u.auth_provider',
    has_password: 'u.password_hash is not null',
    pending_setup: "u.password_hash is null and u.auth_provider = 'local' and u.kind = 'person'",
    two_factor_enabled: reserved(
      ctx,
      'exists (select from two_factor f where f.user_id = u.id and f.confirmed_at is not null)',
    ),
    ui_preferences: 'u.ui_preferences',
    created_at: 'utc(u.created_at)',
    last_login: reserved(ctx, 'utc(u.last_login)'),
  },
});

const serviceAccountList: ListSpec = {
  name: 'service_accounts',
  from: 'users u left join users o on o.id = u.owner_id',
  id: 'u.id',
  sorts: {
    display_name: { sql: 'fold(u.display_name)', type: 'text', filled: true },
    created_at: { sql: 'u.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'display_name',
  search: 'fold(u.display_name)',
  members: {
    id: 'u.id',
    display_name: 'u.display_name',
    role: 'u.role',
    is_active: 'u.is_active',
    owner_id: 'u.owner_id',
    owner_display_name: 'o.display_name',
    token_count: '(select count(*) from api_tokens t where t.user_id = u.id)',
    last_used_at: '(select utc(max(t.last_used_at)) from api_tokens t where t.user_id = u.id)',
    created_at: 'utc(u.created_at)',
  },
};

const invitationList: ListSpec = {
  name: 'invitations',
  from: 'users u',
  id: 'u.id',
  sorts: {
    created_at: { sql: 'u.created_at', type: 'timestamptz', immutable: true },
    email: { sql: 'lower(u.email)', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: "fold(u.display_name || ' ' || u.email)",
  members: {
    id: 'u.id',
    email: 'u.email',
    display_name: 'u.display_name',
    role: 'u.role',
    created_at: 'utc(u.created_at)',
    expires_at: `(select utc(max(t.expires_at)) from one_time_tokens t
                  where t.user_id = u.id and t.purpose = 'invitation')`,
  },
};

export interface UserFilter {
  include_inactive: boolean;
  role?: string;
  kind?: 'person' | 'service';
  auth_provider?: 'local' | 'sso';
}

/**
 * The users; deactivated ones only if requested.
 * @throws EstateError `forbidden` for sorting by the last login without `admin.users`, since the order reveals it.
 */
export async function listUsers(ctx: Ctx, params: ListParams & UserFilter): Promise<JsonText> {
  if (params.sort_by === 'last_login') requirePermission(ctx.caller, 'admin.users');
  const conditions: Condition[] = params.include_inactive ? [] : [fragment`u.is_active`];
  for (const column of ['role', 'kind', 'auth_provider'] as const) {
    const value = params[column];
    if (value !== undefined) conditions.push(fragment`u.${embed(column)} = ${value}`);
  }
  return await runList(ctx, userList(ctx), conditions, params);
}

/** One user; `sql` may be a command's transaction. @throws EstateError `not_found`. */
export async function readUser(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  return await readItem(sql, userList(ctx), 'user', id);
}

/** The service accounts. @throws EstateError `forbidden`. */
export async function listServiceAccounts(
  ctx: Ctx,
  params: ListParams & { include_inactive: boolean },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.users');
  const conditions = [fragment`u.kind = 'service'`];
  if (!params.include_inactive) conditions.push(fragment`u.is_active`);
  return await runList(ctx, serviceAccountList, conditions, params);
}

/** One service account. @throws EstateError `not_found`. */
export async function readServiceAccount(ctx: Ctx, id: string): Promise<JsonText> {
  const isService = [fragment`u.kind = 'service'`];
  return await readItem(ctx.db, serviceAccountList, 'service account', id, isService);
}

/** Invited users without a password. @throws EstateError `forbidden`. */
export async function listInvitations(ctx: Ctx, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.users');
  const waiting = fragment`u.invited_at is not null and u.password_hash is null and u.is_active`;
  return await runList(ctx, invitationList, [waiting], params);
}

/** The caller's own account with the effective permissions. */
export async function readMe(ctx: Ctx): Promise<Record<string, unknown>> {
  const row = await UserModel.query(ctx.db)
    .findById(ctx.caller.userId!)
    .withGraphFetched('roleRow')
    .throwIfNotFound();
  const held = ctx.caller.permissions;
  const { impersonatedRole } = ctx.caller;
  const impersonated = impersonatedRole
    ? await Role.query(ctx.db).findOne({ key: impersonatedRole })
    : undefined;
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
      held === '*' ? { '*': true } : Object.fromEntries(permissionKeys.map((key) => [key, held.has(key)])),
    ui_preferences: row.ui_preferences,
    impersonated_role: impersonated?.key ?? null,
    impersonated_role_label: impersonated?.label ?? null,
  };
}
