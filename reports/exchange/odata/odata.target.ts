import { forbidden } from '../../../domain/kernel/permissions/policy.ts';
import { notFound } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { EntitySet, Navigation, ODataModel, ODataProperty } from './model/model.types.ts';
import { invalidQuery, notOffered } from './odata.errors.ts';

/** What an address leads to. */
export type Target = { set: EntitySet } & (
  | { kind: 'set' }
  | { kind: 'count' }
  | { kind: 'entity'; key: string }
  | { kind: 'property' | 'value'; key: string; property: ODataProperty }
  | { kind: 'related' | 'related-references'; key: string; navigation: Navigation }
  | { kind: 'related-count'; key: string; navigation: Navigation }
);

const KEY =
  /^([A-Za-z_]\w*)\(\s*(?:id\s*=\s*)?(?:([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})|(@[A-Za-z_]\w*))\s*\)$/i;

/**
 * Resolves the parts of an address behind the service's root (OData URL conventions, 4).
 * @throws EstateError `not_found`, `odata_invalid_query` for a malformed key, `odata_not_implemented`, `forbidden`.
 */
export function resolveTarget(
  model: ODataModel,
  [first, second, third]: (string | undefined)[],
  aliases: ReadonlyMap<string, string>,
): Target {
  const name = first!.split('(')[0]!;
  if (name.startsWith('$')) throw notOffered(name, 'is not offered');
  const set = model.sets.get(name);
  if (!set) {
    if (model.forbidden.has(name)) throw forbidden('relations.view');
    throw notFound('entity set', name);
  }
  if (!first!.includes('(')) return ofSet(set, second, third);
  const key = keyOf(first!, aliases);
  if (second === undefined) return { kind: 'entity', set, key };
  return ofEntity(set, key, second, third);
}

function keyOf(part: string, aliases: ReadonlyMap<string, string>): string {
  const [, , id, alias] = KEY.exec(part) ?? [];
  const key = (
    id ??
    (alias
      ? aliases
          .get(alias)
          ?.trim()
          .replace(/^'(.*)'$/, '$1')
      : undefined)
  )?.toLowerCase();
  if (key === undefined || !isUuid(key)) throw invalidQuery('key', `"${part}" has no GUID as its key`);
  return key;
}

function ofSet(set: EntitySet, second: string | undefined, third: string | undefined): Target {
  if (second === undefined) return { kind: 'set', set };
  if (second.toLowerCase() === '$count' && third === undefined) return { kind: 'count', set };
  if (second.startsWith('$')) throw notOffered(second, 'is not offered');
  throw notFound('resource', `${set.name}/${second}`);
}

function ofEntity(set: EntitySet, key: string, second: string, third: string | undefined): Target {
  const property = set.properties.get(second);
  if (property) {
    if (third === undefined) return { kind: 'property', set, key, property };
    if (third.toLowerCase() === '$value' && !property.collection)
      return { kind: 'value', set, key, property };
    throw notFound('resource', `${second}/${third}`);
  }
  const navigation = set.navigations.get(second);
  if (navigation) {
    const suffix = third?.toLowerCase();
    if (third === undefined) return { kind: 'related', set, key, navigation };
    if (suffix === '$count' && navigation.collection) return { kind: 'related-count', set, key, navigation };
    if (suffix === '$ref') return { kind: 'related-references', set, key, navigation };
    throw notOffered(
      `${second}/${third}`,
      'longer paths are not offered: read the related entity by its own address',
    );
  }
  if (set.hiddenCosts.has(second)) throw forbidden('costs.view');
  if (second.startsWith('$') || second.includes('.')) throw notOffered(second, 'is not offered');
  throw notFound('resource', `${set.name}/${second}`);
}
