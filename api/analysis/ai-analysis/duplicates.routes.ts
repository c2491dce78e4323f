import {
  decideCluster,
  decidePair,
  mergeCluster,
} from '../../../domain/analysis/duplicates/duplicates.commands.ts';
import {
  clusterFilters,
  clusterSorts,
  listClusters,
  listPairs,
  pairFilters,
  pairSorts,
} from '../../../domain/analysis/duplicates/duplicates.list.ts';
import { DuplicateQualitySchema, qualityOf } from '../../../domain/analysis/duplicates/duplicates.quality.ts';
import { startSearch } from '../../../domain/analysis/duplicates/duplicates.start.ts';
import { explainCluster, explainPair } from '../../../integrations/duplicates/read.ts';
import { routesOf } from '../../operation.ts';
import { StartedRunSchema } from '../../schemas/analysis.ts';
import { CardMergeAnswer } from '../../schemas/card-merge.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import {
  ClusterDetailSchema,
  ClusterMergeBody,
  DecisionBody,
  DuplicateClusterSchema,
  DuplicatePairSchema,
  ExplainedPairSchema,
  SearchBody,
} from '../../schemas/duplicates.ts';
import type { App } from '../../types.ts';
import { sendStarted } from './analysis-runs.routes.ts';

const common = { tag: 'AI analysis', module: 'ai_analysis' } as const;
/** Duplicate cards: search, explanation, decisions and merges. */
export function registerDuplicateRoutes(app: App): void {
  const managing = routesOf(app, { ...common, permission: 'ai_analysis.manage' });
  const seeing = routesOf(app, { ...common, permission: 'ai_analysis.view' });

  managing.post('/api/v1/ai-analysis/duplicates/analyse', {
    id: 'analyseDuplicates',
    summary: 'Search for duplicates',
    description:
      'Starts a run as a job, which needs no language model. The answer is 409, naming the run, while one is in progress. Decisions stay.',
    body: SearchBody,

    answers: { 202: { description: 'The run has been started', schema: StartedRunSchema } },
    errors: ['wrong_state'],
    handler: async ({ ctx, body, reply }) => sendStarted(reply, await startSearch(ctx, body ?? {})),
  });

  seeing.get('/api/v1/ai-analysis/duplicates', {
    id: 'listDuplicates',
    summary: 'List clusters of duplicates, the surest first',
    description: 'Clusters of which the caller sees at least two cards that are still there.',
    query: listQuery(clusterSorts, 'cohesion', clusterFilters),
    answers: { 200: { description: 'Clusters', schema: listAnswer(DuplicateClusterSchema) } },
    handler: ({ ctx, query }) => listClusters(ctx, query),
  });

  seeing.get('/api/v1/ai-analysis/duplicates/quality', {
    id: 'readDuplicateQuality',
    summary: 'Read precision and recall of decided pairs',
    answers: { 200: { description: 'By card type', schema: DuplicateQualitySchema } },
    handler: ({ ctx }) => qualityOf(ctx),
  });

  seeing.get('/api/v1/ai-analysis/duplicates/:cluster_id', {
    id: 'readDuplicateCluster',
    summary: 'Read a cluster with its cards, reasons and what a merge would do',
    answers: { 200: { description: 'The cluster', schema: ClusterDetailSchema } },
    handler: ({ ctx, params }) => explainCluster(ctx, params.cluster_id),
  });

  managing.patch('/api/v1/ai-analysis/duplicates/:cluster_id/status', {
    id: 'decideDuplicateCluster',
    permissionNote: 'ai_analysis.view',
    summary: 'Confirm or dismiss a cluster, or look into it',
    description:
      'Decides about each pair of its cards that the caller sees. It stays so through later runs until one of the two cards says something else of itself; the next run learns from it. `pending` takes the decisions back.',
    body: DecisionBody,
    answers: { 200: { description: 'The cluster', schema: DuplicateClusterSchema } },
    handler: ({ ctx, params, body }) => decideCluster(ctx, params.cluster_id, body.status),
  });

  managing.post('/api/v1/ai-analysis/duplicates/:cluster_id/merge', {
    id: 'mergeDuplicateCluster',
    summary: 'Merge the cards of a cluster',
    description:
      'As `POST /cards/merge` does, and to be undone in the same way; the pairs of the merged cards are confirmed. A dry run answers the same and writes nothing.',
    permissionNote: 'inventory.edit and inventory.archive, or card.edit and card.archive on each card',
    body: ClusterMergeBody,
    answers: {
      200: { description: 'The survivor and the effects of the merge', schema: CardMergeAnswer },
    },
    errors: [
      'capability_too_deep',
      'cardinality_exceeded',
      'external_id_taken',
      'parent_cycle',
      'sibling_name_taken',
      'too_many_descendants',
      'wrong_state',
    ],
    handler: async ({ ctx, params, body }) => {
      const { survivor, ...rest } = await mergeCluster(ctx, params.cluster_id, body);
      return `{"survivor":${survivor},${JSON.stringify(rest).slice(1)}`;
    },
  });

  seeing.get('/api/v1/ai-analysis/duplicate-pairs', {
    id: 'listDuplicatePairs',
    summary: 'List pairs that may stand for one thing, the likeliest first',
    description: 'Pairs of which the caller sees both cards, also those that are in no cluster.',
    query: listQuery(pairSorts, 'score', pairFilters),
    answers: { 200: { description: 'Pairs', schema: listAnswer(DuplicatePairSchema) } },
    handler: ({ ctx, query }) => listPairs(ctx, query),
  });

  seeing.get('/api/v1/ai-analysis/duplicate-pairs/:pair_id', {
    id: 'readDuplicatePair',
    summary: 'Read a pair with its reasons',
    answers: { 200: { description: 'The pair', schema: ExplainedPairSchema } },
    handler: async ({ ctx, params }) => (await explainPair(ctx, params.pair_id)) as never,
  });

  managing.patch('/api/v1/ai-analysis/duplicate-pairs/:pair_id/status', {
    id: 'decideDuplicatePair',
    permissionNote: 'ai_analysis.view',
    summary: 'Confirm or dismiss a pair, or look into it',
    body: DecisionBody,
    answers: { 200: { description: 'The pair', schema: ExplainedPairSchema } },
    handler: async ({ ctx, params: { pair_id }, body }) =>
      (await decidePair(ctx, pair_id, body.status, (sql) => explainPair(ctx, pair_id, sql))) as never,
  });
}
