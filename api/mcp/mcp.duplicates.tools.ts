import Type from 'typebox';
import { closed } from '../schemas/common.ts';
import { ClusterStatusSchema } from '../schemas/duplicates.ts';
import { bounded } from './mcp.bounds.ts';
import { listOf } from './mcp.cards.tools.ts';
import { answer, CardId, Cursor, Key, listed, MOST_ITEMS, PageSize, Thing } from './mcp.schemas.ts';
import { reading, type Tool, tool } from './mcp.tool.ts';

const path = '/ai-analysis/duplicates';

/** Tools that tell of cards which stand for one thing. */
export const duplicateTools: Tool[] = [
  tool({
    name: 'find_duplicates',
    title: 'Find duplicates',
    description:
      'Clusters of cards that stand for one thing, as the last analysis found them, the surest first, with evidence and recommendation.',
    input: Type.Object(
      {
        card_type: Type.Optional(Key('A card type')),
        card_id: Type.Optional(CardId('A card that is in the cluster')),
        status: Type.Optional(ClusterStatusSchema),
        page_size: PageSize,
        cursor: Cursor,
      },
      closed,
    ),
    output: listed('Clusters'),
    annotations: reading,
    async run({ cursor = '', ...query }, { ask }) {
      return listOf((await ask({ method: 'GET', path, query: { ...query, cursor } })).body);
    },
  }),
  tool({
    name: 'read_duplicates',
    title: 'Read a cluster of duplicates',
    description:
      'Its cards with what they weigh, the reasons for each pair, and what a merge would do: relations moved, cost saved, people affected.',
    input: Type.Object({ id: CardId('A cluster of find_duplicates') }, closed),
    output: answer({ cluster: Thing('The cluster') }),
    annotations: reading,
    async run({ id }, { ask }) {
      const { body } = await ask({ method: 'GET', path: `${path}/${id}` });
      const { value, cuts } = bounded({ cluster: body }, { items: MOST_ITEMS, text: 1_000 });
      return { ...value, cuts };
    },
  }),
];
