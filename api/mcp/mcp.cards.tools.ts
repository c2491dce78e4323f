import Type from 'typebox';
import { closed } from '../../domain/kernel/shapes.ts';
import { RefusedError } from './mcp.ask.ts';
import { bounded } from './mcp.bounds.ts';
import { answer, Cursor, Id, Key, listed, MOST_ITEMS, PageSize, Thing } from './mcp.schemas.ts';
import { reading, type Tool, tool } from './mcp.tool.ts';

/** Characters of a text in a list, where many stand beside each other. */
const LIST_TEXT = 1_000;
/** Characters of a text of one card that was asked for. */
const CARD_TEXT = 20_000;

const itemFields =
  'id,type,subtype,name,alias,external_id,description,parent_id,lifecycle,approval_status,tags';

const Include = Type.Union([
  Type.Literal('hierarchy'),
  Type.Literal('relations'),
  Type.Literal('stakeholders'),
  Type.Literal('comments'),
  Type.Literal('documents'),
  Type.Literal('history'),
  Type.Literal('permissions'),
]);

/** Where each part of a card is read. */
const parts: Record<string, { path: string; list: boolean }> = {
  hierarchy: { path: '/hierarchy', list: true },
  relations: { path: '/relation-summary', list: false },
  stakeholders: { path: '/stakeholders', list: true },
  comments: { path: '/comments', list: true },
  documents: { path: '/documents', list: true },
  history: { path: '/history', list: true },
  permissions: { path: '/my-permissions', list: false },
};

/** Tools that look cards and their relations up. */
export const cardTools: Tool[] = [
  tool({
    name: 'search_cards',
    title: 'Search cards',
    description:
      'Finds cards by words (typos are forgiven), by type, or by an expression of the filter language, such as `lifecycle.endOfLife < 2027-01-01 and attributes.businessCriticality = missionCritical`. describe_metamodel tells which types, fields and options there are.',
    input: Type.Object(
      {
        search: Type.Optional(Type.String({ maxLength: 200, description: 'Words of the name or alias' })),
        type: Type.Optional(Key('A card type')),
        filter: Type.Optional(Type.String({ maxLength: 4000, description: 'In the filter language' })),
        status: Type.Optional(Type.Union([Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')])),
        fields: Type.String({
          maxLength: 1000,
          default: itemFields,
          description: 'Comma-separated members of the cards; `attributes` holds what the type defines',
        }),
        page_size: PageSize,
        cursor: Cursor,
      },
      closed,
    ),
    output: listed('Cards, with the members asked for'),
    annotations: reading,
    async run({ cursor = '', ...query }, { ask }) {
      const { body } = await ask({ method: 'GET', path: '/cards', query: { ...query, cursor } });
      return listOf(body);
    },
  }),
  tool({
    name: 'read_card',
    title: 'Read a card',
    description: 'One card with all its fields, and on demand what belongs to it.',
    input: Type.Object(
      {
        id: Id('The id of a card'),
        include: Type.Array(Include, { default: [], maxItems: 7, uniqueItems: true }),
      },
      closed,
    ),
    output: answer({
      card: Thing('The card'),
      etag: Type.String({ description: 'Names this state of the card; for update_card' }),
      included: Thing('By name of the part; a part that the caller may not see has `code` and `detail`'),
    }),
    annotations: reading,
    async run({ id, include }, { ask }) {
      const path = `/cards/${id}`;
      const { body, headers } = await ask({ method: 'GET', path });
      const included: Record<string, unknown> = {};
      for (const name of include) {
        const part = parts[name]!;
        included[name] = await ask({
          method: 'GET',
          path: `${path}${part.path}`,
          query: part.list ? { page_size: 50 } : {},
        }).then((reply) => reply.body, refusal);
      }
      const { value, cuts } = bounded({ card: body, included }, { items: MOST_ITEMS, text: CARD_TEXT });
      return { ...value, etag: String(headers.etag ?? ''), cuts };
    },
  }),
  tool({
    name: 'list_relations',
    title: 'List relations',
    description: 'Relations of one card or of one relation type, with the names of both ends.',
    input: Type.Object(
      {
        card_id: Type.Optional(Id('At whichever end')),
        type: Type.Optional(Key('A relation type')),
        page_size: PageSize,
        cursor: Cursor,
      },
      closed,
    ),
    output: listed('Relations'),
    annotations: reading,
    async run({ cursor = '', ...query }, { ask }) {
      const { body } = await ask({ method: 'GET', path: '/relations', query: { ...query, cursor } });
      return listOf(body);
    },
  }),
  tool({
    name: 'read_impact',
    title: 'What depends on a card',
    description:
      'The cards that relations join to a card, up to three steps away, and what archiving it would touch.',
    input: Type.Object(
      {
        id: Id('The id of a card'),
        depth: Type.Integer({ minimum: 1, maximum: 3, default: 1, description: 'Steps' }),
      },
      closed,
    ),
    output: answer({
      nodes: Type.Array(Thing('A card')),
      edges: Type.Array(Thing('A relation')),
      archiving: Thing('Children, descendants and related cards that archiving would touch'),
    }),
    annotations: reading,
    async run({ id, depth }, { ask }) {
      const graph = await ask({
        method: 'GET',
        path: '/reports/dependencies',
        query: { center_id: id, depth },
      });
      const archiving = await ask({ method: 'GET', path: `/cards/${id}/archive-impact` });
      const { nodes, edges } = graph.body;
      const { value, cuts } = bounded(
        { nodes, edges, archiving: archiving.body },
        { items: MOST_ITEMS, text: LIST_TEXT },
      );
      return { ...value, cuts };
    },
  }),
];

/** A page of a list as a tool answers it. */
export function listOf(body: { items: Record<string, unknown>[]; next_cursor?: string | null }) {
  const { value, cuts } = bounded(body.items, { items: MOST_ITEMS, text: LIST_TEXT });
  return {
    items: value,
    next_cursor: body.next_cursor ?? null,
    cuts: cuts.map((cut) => ({ ...cut, path: `items${cut.path}` })),
  };
}

/** What stands for a part that cannot be read, in place of the part. */
function refusal(error: unknown): { code: string; detail: string } {
  if (!(error instanceof RefusedError)) throw error;
  return { code: String(error.problem.code), detail: error.message };
}
