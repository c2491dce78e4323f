import type { Caller } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { mapsCosts } from './mappings.check.ts';
import { relatedPath } from './mappings.related.ts';
import type { MappingRow } from './mappings.types.ts';

/** What decides which rights a mapping uses. */
export type Reaching = Pick<
  MappingRow,
  'card_type_key' | 'sync_direction' | 'sync_mode' | 'fields' | 'relations' | 'card_defaults'
>;

/** The permissions that runs of a mapping use in the inventory. */
export function permissionsOfMapping(metamodel: Metamodel, mapping: Reaching): AppPermission[] {
  const { sync_direction: direction, sync_mode: mode, relations, fields } = mapping;
  const relates = relations.length > 0 || fields.some(({ card_field }) => relatedPath(card_field));
  const writes = direction !== 'push';
  const needed: [AppPermission, boolean][] = [
    ['inventory.view', true],
    ['inventory.create', writes],
    ['inventory.edit', writes],
    ['inventory.archive', writes && mode !== 'additive'],
    ['relations.manage', writes && relates],
    ['relations.view', relates],
    ['costs.view', mapsCosts(metamodel, mapping)],
  ];
  return needed.flatMap(([permission, isNeeded]) => (isNeeded ? [permission] : []));
}

/**
 * Nobody writes or reads through a mapping what they may not write or read themselves.
 * @throws EstateError `forbidden` naming the missing permission.
 */
export function requireReach(caller: Caller, metamodel: Metamodel, mapping: Reaching): void {
  for (const permission of permissionsOfMapping(metamodel, mapping)) requirePermission(caller, permission);
}
