import {
  cardTypeSeeds,
  relationTypeSeeds,
  stakeholderRoleSeeds,
} from '../../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import {
  type CardTypeColumns,
  compileMetamodel,
  type Metamodel,
  type RelationTypeColumns,
  type TagGroupColumns,
} from '../../../../domain/kernel/metamodel/metamodel.compile.ts';

interface Overrides {
  cardTypes?: Record<string, Partial<CardTypeColumns>>;
  relationTypes?: Record<string, Partial<RelationTypeColumns>>;
  tagGroups?: TagGroupColumns[];
}

/** The built-in metamodel, compiled without a database, with single rows changed. */
export function seededMetamodel(overrides: Overrides = {}): Metamodel {
  return compileMetamodel({
    version: 1,
    cardTypes: cardTypeSeeds.map(({ stakeholder_roles: _, ...seed }) => ({
      section_config: {},
      translations: {},
      built_in: true,
      is_hidden: false,
      deprecation: null,
      ...seed,
      ...overrides.cardTypes?.[seed.key],
    })),
    relationTypes: relationTypeSeeds.map((seed) => ({
      description: null,
      source_visible: true,
      source_mandatory: false,
      target_visible: true,
      target_mandatory: false,
      built_in: true,
      is_hidden: false,
      translations: {},
      deprecation: null,
      ...seed,
      ...overrides.relationTypes?.[seed.key],
    })),
    roles: cardTypeSeeds.flatMap((type) =>
      type.stakeholder_roles.map((role, sort_order) => ({
        card_type_key: type.key,
        ...role,
        color: '#757575',
        is_archived: false,
        sort_order,
        permissions: Object.fromEntries((stakeholderRoleSeeds[role.key] ?? []).map((key) => [key, true])),
        translations: {},
      })),
    ),
    tagGroups: overrides.tagGroups ?? [],
  });
}
