import Type from 'typebox';
import { Choice, object } from '../../../domain/kernel/shapes.ts';
import { ApiError, type CallApi } from './mcp.api.ts';
import { answer, bounded, Id, JsonObject, Key, MOST_ITEMS, reading, type Tool, tool } from './mcp.tool.ts';

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
      card_types: Type.Array(JsonObject('A card type')),
      relation_types: Type.Array(JsonObject('A relation type; with `type` only those that connect it')),
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

/** The operations that read parts of a card, below its path. */
const parts = {
  hierarchy: 'hierarchy',
  relations: 'relation-summary',
  stakeholders: 'stakeholders',
  comments: 'comments',
  documents: 'documents',
  history: 'history',
  permissions: 'my-permissions',
} as const;
type Part = keyof typeof parts;
const withoutPages: readonly Part[] = ['relations', 'permissions'];

/** Tools that combine several operations on a card. */
export const cardTools: Tool[] = [
  tool({
    name: 'read_card',
    title: 'Read a card',
    description: 'One card with all its fields, and optionally its related data.',
    input: object({
      id: Id('The id of a card'),
      include: Type.Array(Choice(Object.keys(parts) as Part[], 'Related data'), {
        default: [],
        maxItems: 7,
        uniqueItems: true,
      }),
    }),
    output: answer({
      card: JsonObject('The card'),
      etag: Type.String({ description: 'The version of the card; for update_card' }),
      included: JsonObject('By name; data that the caller may not see has `code` and `detail`'),
    }),
    annotations: reading,
    async run({ id, include }, api) {
      const path = `/cards/${id}`;
      const { body, headers } = await api({ method: 'GET', path });
      const included: Record<string, unknown> = {};
      for (const name of include) {
        const query = withoutPages.includes(name) ? {} : { page_size: 50 };
        included[name] = await api({ method: 'GET', path: `${path}/${parts[name]}`, query }).then(
          (reply) => reply.body,
          (error) => {
            if (error instanceof ApiError) return { code: String(error.problem.code), detail: error.message };
            throw error;
          },
        );
      }
      return {
        ...bounded({ card: body, included }, { items: MOST_ITEMS, text: 20_000 }),
        etag: String(headers.etag ?? ''),
      };
    },
  }),
  tool({
    name: 'read_impact',
    title: 'What depends on a card',
    description:
      'The cards that relations connect to a card, up to three steps away, and what archiving it would affect.',
    input: object({
      id: Id('The id of a card'),
      depth: Type.Integer({ minimum: 1, maximum: 3, default: 1, description: 'Steps' }),
    }),
    output: answer({
      nodes: Type.Array(JsonObject('A card')),
      edges: Type.Array(JsonObject('A relation')),
      archiving: JsonObject('Children, descendants and related cards that archiving would affect'),
    }),
    annotations: reading,
    async run({ id, depth }, api) {
      const graph = await api({
        method: 'GET',
        path: '/reports/dependencies',
        query: { center_id: id, depth },
      });
      const archiving = await api({ method: 'GET', path: `/cards/${id}/archive-impact` });
      const { nodes, edges } = graph.body;
      return bounded({ nodes, edges, archiving: archiving.body }, { items: MOST_ITEMS, text: 1_000 });
    },
  }),
];
