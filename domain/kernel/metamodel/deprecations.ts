import { today } from '../dates.ts';
import type { CardTypeRow, RelationTypeRow } from './metamodel.model.ts';
import type { Deprecation, Field, RelationAttribute } from './metamodel.types.ts';

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
  /** The present keys of renamed fields of card types, by the former paths. */
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
  const addFields = (
    kind: '' | 'relation_',
    type: { key: string; label: string },
    fields: readonly (Field | RelationAttribute)[],
  ) => {
    for (const field of fields) {
      const label = `${field.label} (${type.label})`;
      add(`${kind}field:${type.key}.${field.key}`, label, field.deprecation);
      for (const alias of ('aliases' in field && field.aliases) || []) {
        const path = `field:${type.key}.${alias.key}`;
        add(path, `${alias.key}, now ${label},`, { successor: field.key, ...alias.deprecation });
        aliases.set(path, field.key);
      }
      for (const option of field.options ?? []) {
        const path = `${kind}option:${type.key}.${field.key}.${option.key}`;
        add(path, `${option.label} of ${label}`, option.deprecation);
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

/** The present key of a field that was renamed, while the former key may be named. */
export function presentKey(metamodel: Deprecations, type: string, key: string): string | undefined {
  if (metamodel.aliases.size === 0) return undefined;
  const path = `field:${type}.${key}`;
  return isRemovalDue(metamodel, path) ? undefined : metamodel.aliases.get(path);
}

/** Attributes of a card by the present keys of its fields; a value by a former key gives way to one by the present. */
export function presentAttributes<T extends Readonly<Record<string, unknown>> | null | undefined>(
  metamodel: Deprecations,
  type: string,
  attributes: T,
): T {
  if (metamodel.aliases.size === 0 || !attributes) return attributes;
  const pairs = Object.entries(attributes).map(([key, value]) => {
    const present = presentKey(metamodel, type, key);
    return present === undefined || Object.hasOwn(attributes, present) ? [key, value] : [present, value];
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
  of: { kind: 'card' | 'relation'; type: string },
  attributes: Readonly<Record<string, unknown>> | null | undefined,
): void {
  if (metamodel.deprecations.size === 0) return;
  const prefix = of.kind === 'relation' ? 'relation_' : '';
  const paths = Object.entries(attributes ?? {}).flatMap(([key, value]) => [
    `${prefix}field:${of.type}.${key}`,
    ...[value].flat().map((option) => `${prefix}option:${of.type}.${key}.${String(option)}`),
  ]);
  noteParts(ctx, metamodel, paths);
}
