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
import { ok, page, routesOf } from '../../operation.ts';
import { StartedRunSchema } from '../../schemas/analysis.ts';
import { CardMergeAnswer } from '../../schemas/card-merge.ts';
import { listQuery } from '../../schemas/common.ts';
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
      'Starts a run as a job, which needs no language model. While a run is in progress, the response is 409 and names it. Decisions remain.',
    body: SearchBody,

    answers: { 202: { description: 'The run has been started', schema: StartedRunSchema } },
    errors: ['wrong_state'],
    handler: async ({ ctx, body, reply }) => sendStarted(reply, await startSearch(ctx, body ?? {})),
  });

  seeing.get('/api/v1/ai-analysis/duplicates', {
    id: 'listDuplicates',
    summary: 'List clusters of duplicates, most probable first',
    description: 'Clusters of which the caller sees at least two existing cards.',
    query: listQuery(clusterSorts, 'cohesion', clusterFilters),
    answers: page('Clusters', DuplicateClusterSchema),
    handler: ({ ctx, query }) => listClusters(ctx, query),
  });

  seeing.get('/api/v1/ai-analysis/duplicates/quality', {
    id: 'readDuplicateQuality',
    summary: 'Read precision and recall of decided pairs',
    answers: ok('By card type', DuplicateQualitySchema),
    handler: ({ ctx }) => qualityOf(ctx),
  });

  seeing.get('/api/v1/ai-analysis/duplicates/:cluster_id', {
    id: 'readDuplicateCluster',
    summary: 'Read a cluster with its cards, reasons and a preview of the merge',
    answers: ok('The cluster', ClusterDetailSchema),
    handler: ({ ctx, params }) => explainCluster(ctx, params.cluster_id),
  });

  managing.patch('/api/v1/ai-analysis/duplicates/:cluster_id/status', {
    id: 'decideDuplicateCluster',
    permissionNote: 'ai_analysis.view',
    summary: 'Confirm or dismiss a cluster, or mark it as under review',
    description:
      'Decides about each pair of its cards that the caller sees. The decision applies to later runs until the compared data of one of the cards changes; the next run learns from it. `pending` withdraws the decisions.',
    body: DecisionBody,
    answers: ok('The cluster', DuplicateClusterSchema),
    handler: ({ ctx, params, body }) => decideCluster(ctx, params.cluster_id, body.status),
  });

  managing.post('/api/v1/ai-analysis/duplicates/:cluster_id/merge', {
    id: 'mergeDuplicateCluster',
    summary: 'Merge the cards of a cluster',
    description:
      'Like `POST /cards/merge`, with the same undo; the pairs of the merged cards are confirmed. A dry run returns the same response without writing.',
    permissionNote: 'inventory.edit and inventory.archive, or card.edit and card.archive on each card',
    body: ClusterMergeBody,
    answers: ok('The survivor and the effects of the merge', CardMergeAnswer),
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
    summary: 'List pairs of possible duplicates, most probable first',
    description: 'Pairs of which the caller sees both cards, including pairs that are in no cluster.',
    query: listQuery(pairSorts, 'score', pairFilters),
    answers: page('Pairs', DuplicatePairSchema),
    handler: ({ ctx, query }) => listPairs(ctx, query),
  });

  seeing.get('/api/v1/ai-analysis/duplicate-pairs/:pair_id', {
    id: 'readDuplicatePair',
    summary: 'Read a pair with its reasons',
    answers: ok('The pair', ExplainedPairSchema),
    handler: async ({ ctx, params }) => (await explainPair(ctx, params.pair_id)) as never,
  });

  managing.patch('/api/v1/ai-analysis/duplicate-pairs/:pair_id/status', {
    id: 'decideDuplicatePair',
    permissionNote: 'ai_analysis.view',
    summary: 'Confirm or dismiss a pair, or mark it as under review',
    body: DecisionBody,
    answers: ok('The pair', ExplainedPairSchema),
    handler: async ({ ctx, params: { pair_id }, body }) =>
      (await decidePair(ctx, pair_id, body.status, (sql) => explainPair(ctx, pair_id, sql))) as never,
  });
}
