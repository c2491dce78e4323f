import Type from 'typebox';
import { embed, fragment, query } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { Ctx } from '../kernel/context.ts';
import { defineList } from '../kernel/lists/lists.define.ts';
import { columnMembers } from '../kernel/lists/lists.run.ts';
import { permissionKeys } from '../kernel/permissions/permissions.data.ts';
import { may, requirePermission } from '../kernel/permissions/policy.ts';
import { columnsOf } from '../kernel/resources/rows.ts';
import { Choice, FilledText, Flag } from '../kernel/shapes.ts';
import { shownColumns, User } from './users.model.ts';

/** Members that are only visible to the user themselves and to callers with `admin.users`. */
const reserved = (sql: string) => (ctx: Ctx) =>
  may(ctx.caller, 'admin.users')
    ? sql
    : fragment`case when u.id = ${ctx.caller.userId}::uuid then ${embed(sql)} end`;

const PENDING = "u.password_hash is null and u.auth_provider = 'local' and u.kind = 'person'";

/** The users; deactivated ones only if requested. The order by the last login reveals it, so it needs `admin.users`. */
export const userList = defineList({
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
  filters: {
    include_inactive: Type.Boolean({ default: false }),
    role: [FilledText(64, 'Only users with this role'), 'u.role = ?'],
    kind: [Choice(['person', 'service'], 'Only persons, or only service accounts'), 'u.kind = ?'],
    auth_provider: [Choice(['local', 'sso'], 'Only users with this login method'), 'u.auth_provider = ?'],
    locale: [FilledText(20, 'Only users with this language'), 'u.locale = ?'],
    pending_setup: [Flag('Only users without a password who log in with one'), PENDING],
    inactive_only: Flag('Only deactivated users'),
  },
  members: {
    ...columnMembers('u', shownColumns),
    // preferences are nobody else's business
    ui_preferences: (ctx) =>
      fragment`case when u.id = ${ctx.caller.userId}::uuid then u.ui_preferences else '{}' end`,
    has_password: 'u.password_hash is not null',
    pending_setup: PENDING,
    two_factor_enabled: reserved(
      'exists (select from two_factor f where f.user_id = u.id and f.confirmed_at is not null)',
    ),
    last_login: reserved('utc(u.last_login)'),
  },
  where(ctx, params) {
    if (params.sort_by === 'last_login') requirePermission(ctx.caller, 'admin.users');
    if (params.inactive_only) return [fragment`not u.is_active`];
    return params.include_inactive ? [] : [fragment`u.is_active`];
  },
});

/** The columns of a service account in responses. */
export const serviceAccountColumns = columnsOf(
  User,
  'id',
  'display_name',
  'role',
  'is_active',
  'owner_id',
  'created_at',
);
/** The service accounts. */
export const serviceAccountList = defineList({
  name: 'service_accounts',
  permission: 'admin.users',
  filters: {
    include_inactive: Type.Boolean({ default: false }),
  },
  from: 'users u left join users o on o.id = u.owner_id',
  id: 'u.id',
  sorts: {
    display_name: { sql: 'fold(u.display_name)', type: 'text', filled: true },
    created_at: { sql: 'u.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'display_name',
  search: 'fold(u.display_name)',
  members: {
    ...columnMembers('u', serviceAccountColumns),
    owner_display_name: 'o.display_name',
    token_count: '(select count(*) from api_tokens t where t.user_id = u.id)',
    last_used_at: '(select utc(max(t.last_used_at)) from api_tokens t where t.user_id = u.id)',
  },
  visible: () => [fragment`u.kind = 'service'`],
  where: (_ctx, params) => (params.include_inactive ? [] : [fragment`u.is_active`]),
});

/** The columns of an invited user in responses. */
export const invitationColumns = columnsOf(User, 'id', 'email', 'display_name', 'role', 'created_at');
/** Invited users without a password. */
export const invitationList = defineList({
  name: 'invitations',
  permission: 'admin.users',
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
    ...columnMembers('u', invitationColumns),
    expires_at: `(select utc(max(t.expires_at)) from one_time_tokens t
                  where t.user_id = u.id and t.purpose = 'invitation')`,
  },
  where: () => [fragment`u.invited_at is not null and u.password_hash is null and u.is_active`],
});

/** The caller's own account with the effective permissions. */
export async function readMe({ db, caller }: Ctx): Promise<Record<string, unknown>> {
  const me = await query(db).row`select u.id, u.email, u.display_name, u.role, r.label as role_label,
      r.color as role_color, u.is_active, u.locale, u.ui_preferences, i.key as impersonated_role,
      i.label as impersonated_role_label
    from users u join roles r on r.key = u.role left join roles i on i.key = ${caller.impersonatedRole ?? null}
    where u.id = ${caller.userId}::uuid`;
  if (!me) throw notFound('user', caller.userId!);
  const held = caller.permissions;
  return {
    ...me,
    permissions:
      held === '*' ? { '*': true } : Object.fromEntries(permissionKeys.map((key) => [key, held.has(key)])),
  };
}
