import Type from 'typebox';
import { DuplicateCluster } from '../../domain/analysis/duplicates/duplicates.model.ts';
import { closed } from '../../domain/kernel/shapes.ts';
import { bounded } from './mcp.bounds.ts';
import { listOf } from './mcp.cards.tools.ts';
import { answer, Cursor, Id, Key, listed, MOST_ITEMS, PageSize, Thing } from './mcp.schemas.ts';
import { reading, type Tool, tool } from './mcp.tool.ts';
import { safety, write, writing, written } from './mcp.write.tools.ts';

const path = '/ai-analysis/duplicates';
const Cluster = Id('A cluster of find_duplicates');

/** Tools that tell of cards which stand for one thing, decide about them and merge them. */
export const duplicateTools: Tool[] = [
  tool({
    name: 'find_duplicates',
    title: 'Find duplicates',
    description:
      'Clusters of cards that stand for one thing, as the last analysis found them, the surest first, with evidence and recommendation.',
    input: Type.Object(
      {
        card_type: Type.Optional(Key('A card type')),
        card_id: Type.Optional(Id('A card that is in the cluster')),
        status: Type.Optional(DuplicateCluster.columns.status),
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
    input: Type.Object({ id: Cluster }, closed),
    output: answer({ cluster: Thing('The cluster') }),
    annotations: reading,
    async run({ id }, { ask }) {
      const { body } = await ask({ method: 'GET', path: `${path}/${id}` });
      const { value, cuts } = bounded({ cluster: body }, { items: MOST_ITEMS, text: 1_000 });
      return { ...value, cuts };
    },
  }),
  tool({
    name: 'decide_duplicates',
    title: 'Decide about a cluster of duplicates',
    description:
      'Confirms or dismisses that the cards of a cluster stand for one thing, or takes that back with `pending`; later analyses keep to it and learn from it. A dry run unless `dry_run` is false.',
    input: Type.Object({ id: Cluster, status: DuplicateCluster.columns.status, ...safety }, closed),
    output: written('The cluster'),
    annotations: { ...writing, idempotentHint: true },
    run: ({ id, status, ...batch }, { ask }) =>
      write(ask, 'decide_duplicates', batch, {
        method: 'PATCH',
        path: `${path}/${id}/status`,
        body: { status },
      }),
  }),
  tool({
    name: 'merge_duplicates',
    title: 'Merge a cluster of duplicates',
    description:
      'Makes one card of those of a cluster: relations, comments and all else move to the survivor, as recommended or as named. Look at `effect` of read_duplicates first. A dry run unless `dry_run` is false.',
    input: Type.Object(
      {
        id: Cluster,
        survivor_id: Type.Optional(Id('The card that stays; absent: the recommended one')),
        merged_ids: Type.Optional(
          Type.Array(Id('A card of the cluster'), {
            minItems: 1,
            maxItems: 20,
            description: 'Cards that become part of it; absent: all others',
          }),
        ),
        ...safety,
      },
      closed,
    ),
    output: written('The survivor and what became of the rest'),
    annotations: { ...writing, destructiveHint: true },
    run: ({ id, dry_run, batch_id, ...body }, { ask }) =>
      write(
        ask,
        'merge_duplicates',
        { dry_run, batch_id },
        { method: 'POST', path: `${path}/${id}/merge`, body },
      ),
  }),
];
