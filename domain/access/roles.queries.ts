import Type from 'typebox';
import { fragment, type Sql } from '../../platform/database.ts';
import type { Ctx } from '../kernel/context.ts';
import { defineList } from '../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../kernel/lists/lists.run.ts';
import type { JsonText } from '../kernel/lists/lists.types.ts';
import { appPermissions, permissionGroups } from '../kernel/permissions/permissions.data.ts';
import { Role } from './roles.model.ts';

/** The roles; archived ones only if requested. */
export const roleList = defineList({
  name: 'roles',
  filters: {
    include_archived: Type.Boolean({ default: false }),
  },
  from: 'roles r',
  id: 'r.id',
  sorts: {
    sort_order: { sql: 'r.sort_order', type: 'numeric' },
    key: { sql: 'r.key', type: 'text', immutable: true },
    label: { sql: 'fold(r.label)', type: 'text' },
  },
  defaultSort: 'sort_order',
  search: "fold(r.key || ' ' || r.label)",
  members: {
    ...columnMembers('r', Role),
    user_count: '(select count(*) from users u where u.role = r.key)',
  },
  where: (_ctx, params) => (params.include_archived ? [] : [fragment`not r.is_archived`]),
});

/** One role; `sql` may be a command's transaction. @throws EstateError `not_found`. */
export async function readRole(ctx: Ctx, key: string, sql: Sql = ctx.db): Promise<JsonText> {
  return await readItem(sql, { ...roleList, id: 'r.key', idType: 'text' }, 'role', key);
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
