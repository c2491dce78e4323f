import type { Sql } from '../../../platform/database.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';

/**
 * The role that the settings map a user's groups to: that of the first matching group in their list, the default role
 * for users without such a group.
 * @returns undefined if the settings name no groups or the provider sends none: then roles are assigned manually.
 */
export async function roleOfGroups(sql: Sql, groups: string[] | undefined): Promise<string | undefined> {
  return groups && (await rolesByGroups(sql))?.(groups);
}

/**
 * The mapping of `roleOfGroups`, read once for many users.
 * @returns undefined if the settings name no groups.
 */
export async function rolesByGroups(
  sql: Sql,
): Promise<((groups: string[]) => string | undefined) | undefined> {
  const { group_roles } = await readSetting(sql, 'sso');
  if (group_roles.length === 0) return undefined;
  const roles = await sql('roles').where({ is_archived: false }).select('key', 'is_default');
  const usable = new Set(roles.map(({ key }) => key));
  const fallback = roles.find(({ is_default }) => is_default)?.key;
  return (groups) => {
    const held = new Set(groups);
    return group_roles.find(({ group, role }) => held.has(group) && usable.has(role))?.role ?? fallback;
  };
}
