import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { permissionsOfRole, requireGrantable } from '../../kernel/permissions/grants.ts';
import type { SettingKey } from '../../kernel/settings/settings.defaults.ts';
import type { Reach } from '../../kernel/settings/settings.definition.ts';
import { loadSettings } from '../../kernel/settings/settings.state.ts';
import { settingTable } from '../../kernel/settings/settings.table.ts';

/** The reach of a setting; of a group member by member, its secret included. */
export function settingReach(key: SettingKey): Reach | Record<string, Reach> {
  const definition = settingTable[key];
  if (definition.kind === 'image') return 'nothing';
  if (definition.kind === 'plain') return definition.reach;
  const members = Object.entries(definition.members).map(([name, { reach }]) => [name, reach] as const);
  // Users who can change where a secret is sent, or which one, can gain the rights of every account.
  if ('secret' in definition) members.push([definition.secret, 'every account']);
  return Object.fromEntries(members);
}

/** The permissions of a reach, in words; undefined for none. */
function neededFor(reach: Reach): string | undefined {
  if (reach === 'nothing') return undefined;
  if (reach === 'every account') return 'every permission';
  return reach === 'registration role'
    ? 'the permissions of the role of people who register'
    : reach.join(' and ');
}

const isReach = (reach: Reach | Record<string, Reach>): reach is Reach =>
  typeof reach === 'string' || Array.isArray(reach);

/**
 * The permissions that a change of a setting needs besides its own, for the API description: each with the members that
 * need it, unless all do. Undefined if none are needed.
 */
export function describeReach(key: SettingKey): string | undefined {
  const reach = settingReach(key);
  if (isReach(reach)) return neededFor(reach);
  const members = Object.entries(reach);
  const byNeed = Map.groupBy(members, ([, of]) => neededFor(of));
  const notes = [...byNeed].flatMap(([need, of]) => {
    if (need === undefined) return [];
    const names = of.map(([name]) => `\`${name}\``);
    if (of.length === members.length) return [need];
    return [`${need} when ${names.length === 1 ? names[0] : `one of ${names.join(', ')}`} is changed`];
  });
  return notes.length > 0 ? notes.join('; ') : undefined;
}

/**
 * Refuses a change of a setting that grants rights which the caller does not have.
 * @param members the changed members of a group, its secret included; ignored for a plain setting.
 * @param role the role of self-registered users after the change; the current one by default.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export async function requireReach(
  ctx: Ctx,
  sql: Sql,
  key: SettingKey,
  members: readonly string[],
  role?: string,
): Promise<void> {
  const all = settingReach(key);
  const reaches = members.map((member) => (isReach(all) ? all : (all[member] ?? 'every account')));
  for (const reach of new Set(reaches)) {
    if (reach === 'nothing') continue;
    if (reach === 'every account') requireGrantable(ctx.caller, { '*': true });
    else if (reach === 'registration role') {
      const { values } = await loadSettings(sql);
      requireGrantable(ctx.caller, await permissionsOfRole(sql, role ?? values.registration_policy.role));
    } else requireGrantable(ctx.caller, Object.fromEntries(reach.map((permission) => [permission, true])));
  }
}
