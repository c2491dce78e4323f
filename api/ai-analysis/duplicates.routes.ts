import Type, { type TSchema } from 'typebox';
import {
  decideCluster,
  decidePair,
  mergeCluster,
} from '../../domain/analysis/duplicates/duplicates.commands.ts';
import {
  clusterFilters,
  clusterSorts,
  listClusters,
  listPairs,
  pairFilters,
  pairSorts,
} from '../../domain/analysis/duplicates/duplicates.list.ts';
import { DuplicateQualitySchema, qualityOf } from '../../domain/analysis/duplicates/duplicates.quality.ts';
import { startSearch } from '../../domain/analysis/duplicates/duplicates.start.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { explainCluster, explainPair } from '../../integrations/duplicates/read.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import {
  ClusterDetailSchema,
  ClusterMergeBody,
  DecisionBody,
  DuplicateClusterSchema,
  DuplicatePairSchema,
  ExplainedPairSchema,
  SearchBody,
} from '../schemas/duplicates.ts';
import type { App } from '../types.ts';
import { sendStarted } from './analysis-runs.routes.ts';

const base = '/api/v1/ai-analysis';
const common = { tag: 'AI analysis', module: 'ai_analysis' } as const;
const seeing = { ...common, permission: 'ai_analysis.view' } as const;
const managing = { ...common, permission: 'ai_analysis.manage' } as const;
const ofCluster = Type.Object({ cluster_id: Uuid }, closed);
const ofPair = Type.Object({ pair_id: Uuid }, closed);
/** Duplicate cards: search, explanation, decisions and merges. */
export function registerDuplicateRoutes(app: App): void {
  const schemas = [
    DuplicateClusterSchema,
    DuplicatePairSchema,
    ExplainedPairSchema,
    ClusterDetailSchema,
    DuplicateQualitySchema,
  ];
  for (const schema of schemas as TSchema[]) app.addSchema(schema);

  operation(app, {
    ...managing,
    method: 'POST',
    url: `${base}/duplicates/analyse`,
    id: 'analyseDuplicates',
    summary: 'Search for duplicates',
    description:
      'Starts a run as a job, which needs no language model. The answer is 409, naming the run, while one is in progress. Decisions stay.',
    body: SearchBody,
    bodyExample: { card_types: ['Application', 'ITComponent'], mode: 'changes' },
    answers: { 202: { description: 'The run has been started', schema: Type.Ref('StartedRun#') } },
    errors: ['wrong_state'],
    handler: async ({ ctx, body, reply }) => sendStarted(reply, await startSearch(ctx, body ?? {})),
  });

  operation(app, {
    ...seeing,
    method: 'GET',
    url: `${base}/duplicates`,
    id: 'listDuplicates',
    summary: 'List clusters of duplicates, the surest first',
    description: 'Clusters of which the caller sees at least two cards that are still there.',
    query: listQuery(clusterSorts, 'cohesion', clusterFilters),
    answers: { 200: { description: 'Clusters', schema: listAnswer(Type.Ref('DuplicateCluster#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listClusters(ctx, query)),
  });

  operation(app, {
    ...seeing,
    method: 'GET',
    url: `${base}/duplicates/quality`,
    id: 'readDuplicateQuality',
    summary: 'Read precision and recall of decided pairs',
    answers: { 200: { description: 'By card type', schema: Type.Ref('DuplicateQuality#') } },
    handler: async ({ ctx }) => await qualityOf(ctx),
  });

  operation(app, {
    ...seeing,
    method: 'GET',
    url: `${base}/duplicates/:cluster_id`,
    id: 'readDuplicateCluster',
    summary: 'Read a cluster with its cards, reasons and what a merge would do',
    params: ofCluster,
    answers: { 200: { description: 'The cluster', schema: Type.Ref('DuplicateClusterDetail#') } },
    handler: async ({ ctx, params }) => await explainCluster(ctx, params.cluster_id),
  });

  operation(app, {
    ...managing,
    method: 'PATCH',
    url: `${base}/duplicates/:cluster_id/status`,
    id: 'decideDuplicateCluster',
    permissionNote: 'ai_analysis.view',
    summary: 'Confirm or dismiss a cluster, or look into it',
    description:
      'Decides about each pair of its cards that the caller sees. It stays so through later runs until one of the two cards says something else of itself; the next run learns from it. `pending` takes the decisions back.',
    params: ofCluster,
    body: DecisionBody,
    answers: { 200: { description: 'The cluster', schema: Type.Ref('DuplicateCluster#') } },
    handler: async ({ ctx, params, body, reply }) =>
      sendJson(reply, await decideCluster(ctx, params.cluster_id, body.status)),
  });

  operation(app, {
    ...managing,
    method: 'POST',
    url: `${base}/duplicates/:cluster_id/merge`,
    id: 'mergeDuplicateCluster',
    summary: 'Merge the cards of a cluster',
    description:
      'As `POST /cards/merge` does, and to be undone in the same way; the pairs of the merged cards are confirmed. A dry run answers the same and writes nothing.',
    permissionNote: 'inventory.edit and inventory.archive, or card.edit and card.archive on each card',
    params: ofCluster,
    body: ClusterMergeBody,
    answers: {
      200: { description: 'The survivor and the effects of the merge', schema: Type.Ref('CardMergeAnswer#') },
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
    handler: async ({ ctx, params, body, reply }) => {
      const { survivor, ...rest } = await mergeCluster(ctx, params.cluster_id, body);
      return sendJson(reply, `{"survivor":${survivor},${JSON.stringify(rest).slice(1)}`);
    },
  });

  registerDuplicatePairRoutes(app);
}

/** Pairs of duplicates. */
function registerDuplicatePairRoutes(app: App): void {
  operation(app, {
    ...seeing,
    method: 'GET',
    url: `${base}/duplicate-pairs`,
    id: 'listDuplicatePairs',
    summary: 'List pairs that may stand for one thing, the likeliest first',
    description: 'Pairs of which the caller sees both cards, also those that are in no cluster.',
    query: listQuery(pairSorts, 'score', pairFilters),
    answers: { 200: { description: 'Pairs', schema: listAnswer(Type.Ref('DuplicatePair#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listPairs(ctx, query)),
  });

  operation(app, {
    ...seeing,
    method: 'GET',
    url: `${base}/duplicate-pairs/:pair_id`,
    id: 'readDuplicatePair',
    summary: 'Read a pair with its reasons',
    params: ofPair,
    answers: { 200: { description: 'The pair', schema: Type.Ref('ExplainedPair#') } },
    handler: async ({ ctx, params }) => (await explainPair(ctx, params.pair_id)) as never,
  });

  operation(app, {
    ...managing,
    method: 'PATCH',
    url: `${base}/duplicate-pairs/:pair_id/status`,
    id: 'decideDuplicatePair',
    permissionNote: 'ai_analysis.view',
    summary: 'Confirm or dismiss a pair, or look into it',
    params: ofPair,
    body: DecisionBody,
    answers: { 200: { description: 'The pair', schema: Type.Ref('ExplainedPair#') } },
    handler: async ({ ctx, params: { pair_id }, body }) =>
      (await decidePair(ctx, pair_id, body.status, (sql) => explainPair(ctx, pair_id, sql))) as never,
  });
}
