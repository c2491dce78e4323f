import type { FilterSchema } from '../../../../domain/inventory/filters/filters.schema.ts';
import { createFilterSchema } from '../../../../domain/inventory/filters/filters.schema.ts';
import {
  cardTypeSeeds,
  relationTypeSeeds,
} from '../../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { compileMetamodel } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Field, FieldType } from '../../../../domain/kernel/metamodel/metamodel.types.ts';

const field = (key: string, type: FieldType, ...options: string[]): Field => ({
  key,
  label: key,
  type,
  weight: 1,
  options: options.map((option) => ({ key: option, label: option })),
});

/** Two card types of the workspace's own: one has every field type, the other differs in the type of some. */
const labTypes = [
  {
    key: 'Lab',
    subtypes: [{ key: 'indoor', label: 'Indoor' }],
    fields: [
      field('note', 'text'),
      field('essay', 'multiline_text'),
      field('home', 'url'),
      field('size', 'number'),
      field('price', 'cost'),
      field('open', 'boolean'),
      field('since', 'date'),
      field('tier', 'single_select', 'gold', 'silver', '7'),
      field('topics', 'multiple_select', 'gold', 'physics', 'chemistry'),
      field('odd key', 'text'),
      field('mixed', 'number'),
      field('shade', 'single_select', 'red', '7'),
    ],
  },
  {
    key: 'Annex',
    subtypes: [{ key: 'cellar', label: 'Cellar' }],
    fields: [field('mixed', 'text'), field('shade', 'multiple_select', 'red', 'blue'), field('when', 'date')],
  },
];

const blank = {
  description: null,
  translations: {},
  built_in: false,
  is_hidden: false,
  sort_order: 90,
  deprecation: null,
};

/** The built-in metamodel and {@link labTypes}, as rows of the metamodel's tables. */
export const sampleRows = {
  cardTypes: [
    ...cardTypeSeeds.map(({ stakeholder_roles: _, ...type }) => ({ ...blank, section_config: {}, ...type })),
    ...labTypes.map(({ key, subtypes, fields }) => ({
      ...blank,
      key,
      number_prefix: key.slice(0, 3).toUpperCase(),
      label: key,
      icon: 'category',
      color: '#1976d2',
      category: null,
      has_hierarchy: true,
      has_successors: false,
      has_data_flows: false,
      allow_same_name: false,
      subtypes,
      fields_schema: [{ section: 'All', fields }],
      section_config: {},
    })),
  ],
  relationTypes: relationTypeSeeds.map((type) => ({
    ...blank,
    source_visible: true,
    source_mandatory: false,
    target_visible: true,
    target_mandatory: false,
    ...type,
  })),
  roles: cardTypeSeeds.flatMap((type) =>
    type.stakeholder_roles.map((role) => ({
      ...blank,
      ...role,
      card_type_key: type.key,
      color: '#757575',
      permissions: {},
      is_archived: false,
    })),
  ),
};

export const regionGroup = { id: '00000000-0000-7000-8000-000000000001', name: 'Region' };
export const slashGroup = { id: '00000000-0000-7000-8000-000000000002', name: 'In/Out' };

/** What filters may name in such a workspace with two tag groups. */
export function sampleSchema(): FilterSchema {
  const metamodel = compileMetamodel({ version: 1, ...sampleRows, tagGroups: [] });
  return createFilterSchema(metamodel, [regionGroup, slashGroup]);
}
