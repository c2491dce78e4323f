import Type from 'typebox';
import { Choice, object } from '../../../domain/kernel/shapes.ts';
import { ApiError } from './mcp.api.ts';
import { answer, bounded, Id, MOST_ITEMS, reading, Thing, type Tool, tool } from './mcp.tool.ts';

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
      card: Thing('The card'),
      etag: Type.String({ description: 'The version of the card; for update_card' }),
      included: Thing('By name; data that the caller may not see has `code` and `detail`'),
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
      nodes: Type.Array(Thing('A card')),
      edges: Type.Array(Thing('A relation')),
      archiving: Thing('Children, descendants and related cards that archiving would affect'),
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
