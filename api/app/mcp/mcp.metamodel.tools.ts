import Type from 'typebox';
import { object } from '../../../domain/kernel/shapes.ts';
import type { CallApi } from './mcp.api.ts';
import { answer, bounded, Key, reading, Thing, type Tool, tool } from './mcp.tool.ts';

interface Option {
  key: string;
  label: string;
  is_hidden?: boolean;
}
interface Field extends Option {
  type: string;
  required?: boolean;
  readonly?: boolean;
  options?: Option[];
}
interface CardType extends Option {
  description: string | null;
  category: string | null;
  has_hierarchy: boolean;
  subtypes: Option[];
  fields_schema: { section: string; fields: Field[] }[];
  stakeholder_roles?: Option[];
}
interface RelationType extends Option {
  reverse_label: string | null;
  source_type_key: string;
  target_type_key: string;
  cardinality: string;
  attributes_schema: Field[];
}

/** Tools that describe the types of the inventory. */
export const metamodelTools: Tool[] = [
  tool({
    name: 'describe_metamodel',
    title: 'Describe the metamodel',
    description:
      'The card types and relation types of this workspace; with `type` the fields, options, subtypes and roles of one card type. Filters, queries and writes take the keys that it returns.',
    input: object({ type: Type.Optional(Key('A card type, to be described in full')) }),
    output: answer({
      card_types: Type.Array(Thing('A card type')),
      relation_types: Type.Array(Thing('A relation type; with `type` only those that connect it')),
    }),
    annotations: reading,
    async run({ type }, api) {
      const types =
        type === undefined
          ? await all<CardType>(api, '/metamodel/types', {})
          : [
              (await api<CardType>({ method: 'GET', path: `/metamodel/types/${encodeURIComponent(type)}` }))
                .body,
            ];
      const relations = await all<RelationType>(api, '/metamodel/relation-types', { type_key: type });
      return bounded(
        {
          card_types: types.map((card) => (type === undefined ? briefly(card) : inFull(card))),
          relation_types: relations.map(relationType),
        },
        { items: 500, text: 1_000 },
      );
    },
  }),
];

/** All items of a list. */
async function all<T>(api: CallApi, path: string, query: Record<string, unknown>): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: T[]; next_cursor: string | null } = (
      await api<{ items: T[]; next_cursor: string | null }>({
        method: 'GET',
        path,
        query: { ...query, page_size: 200, cursor },
      })
    ).body;
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

const named = ({ key, label }: Option) => ({ key, label });
const shown = (options: Option[] = []) => options.filter((option) => !option.is_hidden).map(named);

const briefly = (type: CardType) => ({
  ...named(type),
  description: type.description,
  category: type.category,
  subtypes: type.subtypes.map(({ key }) => key),
});

const inFull = (type: CardType) => ({
  ...named(type),
  description: type.description,
  category: type.category,
  has_hierarchy: type.has_hierarchy,
  subtypes: type.subtypes.map(named),
  fields: type.fields_schema.flatMap(({ section, fields }) =>
    fields.map((field) => ({ section, path: `attributes.${field.key}`, ...fieldOf(field) })),
  ),
  stakeholder_roles: (type.stakeholder_roles ?? []).map(named),
});

const fieldOf = (field: Field) => ({
  ...named(field),
  type: field.type,
  required: field.required ?? false,
  readonly: field.readonly ?? false,
  ...(field.options?.length ? { options: shown(field.options) } : {}),
});

const relationType = (type: RelationType) => ({
  ...named(type),
  reverse_label: type.reverse_label,
  source: type.source_type_key,
  target: type.target_type_key,
  cardinality: type.cardinality,
  attributes: type.attributes_schema.map(fieldOf),
});
