import { today } from '../dates.ts';
import type { CardTypeRow, RelationTypeRow } from './metamodel.model.ts';
import type { Alias, Deprecation, Field, RelationAttribute } from './metamodel.types.ts';

/** A part of the metamodel that is going to be removed. */
export interface DeprecatedPart extends Deprecation {
  /** Its path, as `field:Application.costTotalAnnual`. */
  path: string;
  /** What people call it. */
  label: string;
}

/** The parts of a metamodel that are going to be removed, by path. */
export interface Deprecations {
  deprecations: ReadonlyMap<string, DeprecatedPart>;
  /** The present keys of renamed fields and options, by the former paths. */
  aliases: ReadonlyMap<string, string>;
}

/** The context of a request, in which its use of deprecated parts is noted. */
interface Noting {
  noted?: Set<string>;
}

/** The deprecated types, fields and options, by path. */
export function compileDeprecations(
  cardTypes: readonly Pick<CardTypeRow, 'key' | 'label' | 'deprecation' | 'fields_schema'>[],
  relationTypes: readonly Pick<RelationTypeRow, 'key' | 'label' | 'deprecation' | 'attributes_schema'>[],
): Deprecations {
  const found = new Map<string, DeprecatedPart>();
  const aliases = new Map<string, string>();
  const add = (path: string, label: string, deprecation: Deprecation | null | undefined) => {
    if (deprecation) found.set(path, { ...deprecation, path, label });
  };
  const addAliases = (prefix: string, present: string, label: string, all: readonly Alias[] | undefined) => {
    for (const alias of all ?? []) {
      const path = `${prefix}${alias.key}`;
      add(path, `${alias.key}, now ${label},`, { successor: present, ...alias.deprecation });
      aliases.set(path, present);
    }
  };
  const addFields = (
    kind: '' | 'relation_',
    type: { key: string; label: string },
    fields: readonly (Field | RelationAttribute)[],
  ) => {
    for (const field of fields) {
      const label = `${field.label} (${type.label})`;
      add(`${kind}field:${type.key}.${field.key}`, label, field.deprecation);
      if ('aliases' in field) addAliases(`field:${type.key}.`, field.key, label, field.aliases);
      for (const option of field.options ?? []) {
        const prefix = `${kind}option:${type.key}.${field.key}.`;
        add(`${prefix}${option.key}`, `${option.label} of ${label}`, option.deprecation);
        addAliases(prefix, option.key, `${option.label} of ${label}`, option.aliases);
      }
    }
  };
  for (const type of cardTypes) {
    add(`type:${type.key}`, type.label, type.deprecation);
    addFields(
      '',
      type,
      type.fields_schema.flatMap(({ fields }) => fields),
    );
  }
  for (const type of relationTypes) {
    add(`relation_type:${type.key}`, type.label, type.deprecation);
    addFields('relation_', type, type.attributes_schema);
  }
  return { deprecations: found, aliases };
}

/** A path, and those of the field and the type to which the part belongs. */
function pathsAround(path: string): string[] {
  const [, relation = '', kind, rest = ''] = /^(relation_)?(\w+):(.*)$/s.exec(path) ?? [];
  if (kind === 'type') return [path];
  const [type, field] = rest.split('.');
  const ofType = `${relation}type:${type}`;
  return kind === 'option' ? [path, `${relation}field:${type}.${field}`, ofType] : [path, ofType];
}

/** The deprecation of a part, of its field or of its type: the one whose removal is first. */
export function deprecationOf({ deprecations }: Deprecations, path: string): DeprecatedPart | undefined {
  if (deprecations.size === 0) return undefined;
  return pathsAround(path)
    .flatMap((one) => deprecations.get(one) ?? [])
    .reduce<DeprecatedPart | undefined>(
      (first, one) => (first && first.removal <= one.removal ? first : one),
      undefined,
    );
}

/** Whether the day has come from which on a part may be removed. */
export const isRemovalDue = (metamodel: Deprecations, path: string): boolean =>
  (deprecationOf(metamodel, path)?.removal ?? '9999-12-31') <= today();

/** The former keys of the fields of card types that were renamed. */
export const formerFields = ({ aliases }: Pick<Deprecations, 'aliases'>) =>
  [...aliases].flatMap(([path, present]) => {
    const [, type, key] = /^field:(\w+)\.(\w+)$/.exec(path) ?? [];
    return type && key ? [{ path, type, key, present }] : [];
  });

/** The present key of a part that was renamed, by its former path, while the former key may be named. */
export function presentPart(metamodel: Deprecations, path: string): string | undefined {
  const present = metamodel.aliases.get(path);
  return present === undefined || isRemovalDue(metamodel, path) ? undefined : present;
}

/** The present key of a field that was renamed, while the former key may be named. */
export const presentKey = (metamodel: Deprecations, type: string, key: string): string | undefined =>
  metamodel.aliases.size === 0 ? undefined : presentPart(metamodel, `field:${type}.${key}`);

type OfType = { kind: 'card' | 'relation'; type: string };
const prefixOf = ({ kind }: OfType) => (kind === 'relation' ? 'relation_' : '');

/** A value with the present keys of the options of its field that were renamed. */
export function presentValue<T>(metamodel: Deprecations, of: OfType, key: string, value: T): T {
  if (metamodel.aliases.size === 0) return value;
  const present = (one: unknown) =>
    typeof one === 'string'
      ? (presentPart(metamodel, `${prefixOf(of)}option:${of.type}.${key}.${one}`) ?? one)
      : one;
  return (Array.isArray(value) ? [...new Set(value.map(present))] : present(value)) as T;
}

/**
 * Attributes by the present keys of their fields, with the present keys of options; a value by a former key gives way to one by
 * the present.
 */
export function presentAttributes<T extends Readonly<Record<string, unknown>> | null | undefined>(
  metamodel: Deprecations,
  of: OfType,
  attributes: T,
): T {
  if (metamodel.aliases.size === 0 || !attributes) return attributes;
  const pairs = Object.entries(attributes).map(([key, value]) => {
    const present = of.kind === 'card' ? presentKey(metamodel, of.type, key) : undefined;
    const now = present === undefined || Object.hasOwn(attributes, present) ? key : present;
    return [now, presentValue(metamodel, of, now, value)];
  });
  return Object.fromEntries(pairs) as T;
}

/** Notes parts of the metamodel that a request uses, of which its parameters and its body tell too little. */
export function noteParts(ctx: Noting, metamodel: Deprecations, paths: Iterable<string>): void {
  if (metamodel.deprecations.size === 0) return;
  ctx.noted ??= new Set();
  for (const path of paths) if (deprecationOf(metamodel, path)) ctx.noted.add(path);
}

/** {@link noteParts} of the attributes that are written to a card or a relation. */
export function noteAttributes(
  ctx: Noting,
  metamodel: Deprecations,
  of: OfType,
  attributes: Readonly<Record<string, unknown>> | null | undefined,
): void {
  if (metamodel.deprecations.size === 0) return;
  const prefix = prefixOf(of);
  const paths = Object.entries(attributes ?? {}).flatMap(([key, value]) => {
    const present = (of.kind === 'card' ? presentKey(metamodel, of.type, key) : undefined) ?? key;
    return [
      `${prefix}field:${of.type}.${key}`,
      ...[value].flat().map((option) => `${prefix}option:${of.type}.${present}.${String(option)}`),
    ];
  });
  noteParts(ctx, metamodel, paths);
}
