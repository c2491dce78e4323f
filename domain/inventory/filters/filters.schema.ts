import type { CompiledField, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { FieldType } from '../../kernel/metamodel/metamodel.types.ts';

/** An attribute as filters see it: card types may give one key different types and options. */
interface FilterAttribute {
  types: ReadonlySet<FieldType>;
  options: ReadonlySet<string>;
}

export type FilterAttributes = ReadonlyMap<string, FilterAttribute>;

/** What a filter may name on cards of one type, or of any type. */
export interface FilterScope {
  attributes: FilterAttributes;
  subtypes: ReadonlySet<string>;
  /** Keys of stakeholder roles. */
  roles: ReadonlySet<string>;
}

interface FilterRelationType {
  /** The card type at either end. */
  source: string;
  target: string;
  attributes: FilterAttributes;
}

export interface FilterTagGroup {
  id: string;
  name: string;
}

/** All that a filter may name, besides the fields that every card has. */
export interface FilterSchema {
  any: FilterScope;
  /** By card type key: the types that filters may name. */
  types: ReadonlyMap<string, FilterScope>;
  /** By relation type key. */
  relations: ReadonlyMap<string, FilterRelationType>;
  /** By lower-case name. */
  tagGroups: ReadonlyMap<string, FilterTagGroup>;
}

/** The schema of the visible card and relation types, with the given tag groups. */
export function createFilterSchema(
  metamodel: Metamodel,
  tagGroups: Iterable<FilterTagGroup> = [],
): FilterSchema {
  const types = new Map(
    metamodel.visibleTypes.map((key) => {
      const type = metamodel.cardTypes.get(key)!;
      const scope: FilterScope = {
        attributes: attributesOf(type.fields.values()),
        subtypes: type.subtypeKeys,
        roles: new Set(type.stakeholderRoles.map((role) => role.key)),
      };
      return [key, scope];
    }),
  );
  const scopes = [...types.values()];
  return {
    types,
    any: {
      attributes: attributesOf(
        metamodel.visibleTypes.flatMap((key) => [...metamodel.cardTypes.get(key)!.fields.values()]),
      ),
      subtypes: new Set(scopes.flatMap((scope) => [...scope.subtypes])),
      roles: new Set(scopes.flatMap((scope) => [...scope.roles])),
    },
    relations: new Map(
      metamodel.visibleRelationTypes.map((key) => {
        const type = metamodel.relationTypes.get(key)!;
        return [
          key,
          {
            source: type.source_type_key,
            target: type.target_type_key,
            attributes: attributesOf(type.fields.values()),
          },
        ];
      }),
    ),
    tagGroups: new Map([...tagGroups].map((group) => [group.name.toLowerCase(), group])),
  };
}

function attributesOf(fields: Iterable<CompiledField>): FilterAttributes {
  const attributes = new Map<string, { types: Set<FieldType>; options: Set<string> }>();
  for (const field of fields) {
    const known = attributes.get(field.key) ?? { types: new Set(), options: new Set() };
    known.types.add(field.type);
    for (const option of field.options) known.options.add(option);
    attributes.set(field.key, known);
  }
  return attributes;
}
