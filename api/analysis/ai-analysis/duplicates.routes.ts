import Type from 'typebox';
import {
  clusterList,
  decideCluster,
  decidePair,
  duplicatePairList,
  mergeCluster,
} from '../../../domain/analysis/duplicates/duplicates.commands.ts';
import { MergeEffect } from '../../../domain/analysis/duplicates/duplicates.effect.ts';
import {
  DuplicateCluster,
  DuplicatePair,
  searchModes,
  Tier,
} from '../../../domain/analysis/duplicates/duplicates.model.ts';
import { DuplicateQualitySchema, qualityOf } from '../../../domain/analysis/duplicates/duplicates.quality.ts';
import { startSearch } from '../../../domain/analysis/duplicates/duplicates.start.ts';
import { StartedRunSchema, startedRunQuery } from '../../../domain/analysis/runs/runs.ts';
import {
  arrayOf,
  BooleanOf,
  Choice,
  Count,
  component,
  itemComponent,
  Nullable,
  NullableText,
  NumberIn,
  object,
  partialObject,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { explainCluster, explainPair } from '../../../integrations/analysis/duplicates/read.ts';
import { CardMergeBody, CardMergeResult } from '../../inventory/cards/cards.schemas.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { sendStarted } from './analysis-runs.routes.ts';

const SearchBody = partialObject({
  card_types: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 200,
    description: 'The types whose cards are compared with each other; by default all visible ones',
  }),
  mode: Choice(searchModes, {
    default: 'changes',
    description:
      '`changes`: compares cards that have changed since the last run; `everything`: all cards, with the current model; `learn`: all cards, and learns a new model. Without a model each of them learns one.',
  }),
});

const DecisionBody = object({ status: DuplicateCluster.columns.status });

const { id, card_type, card_ids, status, cohesion, run_id, decided_by, decided_at } =
  DuplicateCluster.columns;
const clusterMembers = {
  id,
  cluster_name: Type.String({ description: 'The name of the card that is recommended as survivor' }),
  card_type,
  functional_domain: NullableText('The business capability to which most of its cards are related'),
  card_ids,
  card_names: Type.Array(Type.String()),
  evidence: Type.String(),
  recommendation: Type.String(),
  status,
  cohesion,
  run_id,
  decided_by,
  decided_at,
  analysed_at: Timestamp,
};
const pairMembers = {
  ...DuplicatePair.shown.columns,
  tier: Tier,
  status,
  reopened: BooleanOf('It was decided, but the compared values of a card have changed since'),
  decided_by,
  decided_at,
};

const DuplicateClusterSchema = itemComponent('DuplicateCluster', clusterMembers);

const DuplicatePairSchema = itemComponent('DuplicatePair', {
  ...pairMembers,
  left_name: Type.String(),
  right_name: Type.String(),
});

const ExplainedPairSchema = component('ExplainedPair', {
  ...pairMembers,
  reasons: Type.Array(Type.String(), {
    description: 'The reasons for and against it by the current values of the cards, the strongest first',
  }),
  prior_bits: Type.Number({
    description:
      'The base-2 logarithm of the odds before any comparison; the bits of the aspects are added to it',
  }),
  aspects: arrayOf(
    {
      aspect: Type.String({
        description:
          'The compared field, such as `name` or `attributes.<key>`, or what is compared of several',
      }),
      label: Type.String(),
      similarity: Nullable(NumberIn(0, 1, 'Null if a card has no value')),
      bits: Type.Number({ description: 'Positive for, negative against the same object' }),
      left: NullableText('The value of `left_id`; null for sets and for aspects of several fields'),
      right: NullableText('The value of `right_id`'),
    },
    { description: 'The same reasons as data, the strongest first' },
  ),
  differing: Type.Array(Type.String(), { description: 'The compared fields whose values differ' }),
});

const ClusterDetailSchema = component('DuplicateClusterDetail', {
  ...clusterMembers,
  cards: Type.Array(
    object({
      id: Uuid,
      name: Type.String(),
      external_id: Nullable(Type.String()),
      subtype: Nullable(Type.String()),
      approval_status: Type.String(),
      data_quality: Type.Number(),
      relations: Nullable(Count),
      people: Nullable(Type.Integer({ minimum: 0, description: 'Users with a role on the card' })),
      cost: Nullable(Type.Number({ description: 'Annual; null without `costs.view`' })),
      created_at: Timestamp,
    }),
    {
      description:
        'The recommended survivor first: approved, with high data quality, with many relations, old',
    },
  ),
  pairs: Type.Array(ExplainedPairSchema),
  effect: MergeEffect,
});

const { survivor_id, merged_ids, fields, dry_run } = CardMergeBody.properties;

const ClusterMergeBody = object({
  survivor_id: Type.Optional({ ...survivor_id, description: 'By default the recommended one' }),
  merged_ids: Type.Optional({ ...merged_ids, description: 'By default all others of the cluster' }),
  fields,
  dry_run,
});

const common = { tag: 'AI analysis', module: 'ai_analysis' } as const;
/** Duplicate cards: search, explanation, decisions and merges. */
export function registerDuplicateRoutes(app: App): void {
  const managing = routesOf(app, { ...common, permission: 'ai_analysis.manage' });
  const seeing = routesOf(app, { ...common, permission: 'ai_analysis.view' });

  managing.post('analyseDuplicates', '/api/v1/ai-analysis/duplicates/analyse', {
    summary: 'Search for duplicates',
    description:
      'Starts a run as a job, which needs no language model. While a run is in progress, the response is 409 and names it. Decisions remain.',
    query: startedRunQuery,
    body: SearchBody,
    responses: { 202: { description: 'The run has been started', schema: StartedRunSchema } },
    errors: ['wrong_state'],
    handler: async ({ ctx, body, query, reply }) =>
      sendStarted(reply, await startSearch(ctx, body, query.dry_run)),
  });

  seeing.list('listDuplicates', '/api/v1/ai-analysis/duplicates', clusterList, {
    summary: 'List clusters of duplicates, most probable first',
    description: 'Clusters of which the caller sees at least two existing cards.',
    responses: page('Clusters', DuplicateClusterSchema),
  });

  seeing.get('readDuplicateQuality', '/api/v1/ai-analysis/duplicates/quality', {
    summary: 'Read precision and recall of decided pairs',
    responses: ok('By card type', DuplicateQualitySchema),
    handler: ({ ctx }) => qualityOf(ctx),
  });

  seeing.get('readDuplicateCluster', '/api/v1/ai-analysis/duplicates/:cluster_id', {
    summary: 'Read a cluster with its cards, reasons and a preview of the merge',
    responses: ok('The cluster', ClusterDetailSchema),
    handler: ({ ctx, params }) => explainCluster(ctx, params.cluster_id),
  });

  managing.patch('decideDuplicateCluster', '/api/v1/ai-analysis/duplicates/:cluster_id/status', {
    ifMatch: false,
    permissionNote: 'ai_analysis.view',
    summary: 'Confirm or dismiss a cluster, or mark it as under review',
    description:
      'Decides about each pair of its cards that the caller sees. The decision applies to later runs until the compared data of one of the cards changes; the next run learns from it. `pending` withdraws the decisions.',
    body: DecisionBody,
    responses: ok('The cluster', DuplicateClusterSchema),
    handler: ({ ctx, params, body }) => decideCluster(ctx, params.cluster_id, body.status),
  });

  managing.post('mergeDuplicateCluster', '/api/v1/ai-analysis/duplicates/:cluster_id/merge', {
    summary: 'Merge the cards of a cluster',
    description:
      'Like `POST /cards/merge`, with the same undo; the pairs of the merged cards are confirmed. A dry run returns the same response without writing.',
    permissionNote: 'inventory.edit and inventory.archive, or card.edit and card.archive on each card',
    body: ClusterMergeBody,
    responses: ok('The survivor and the effects of the merge', CardMergeResult),
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

  seeing.list('listDuplicatePairs', '/api/v1/ai-analysis/duplicate-pairs', duplicatePairList, {
    summary: 'List pairs of possible duplicates, most probable first',
    description: 'Pairs of which the caller sees both cards, including pairs that are in no cluster.',
    responses: page('Pairs', DuplicatePairSchema),
  });

  seeing.get('readDuplicatePair', '/api/v1/ai-analysis/duplicate-pairs/:pair_id', {
    summary: 'Read a pair with its reasons',
    responses: ok('The pair', ExplainedPairSchema),
    handler: ({ ctx, params }) => explainPair(ctx, params.pair_id),
  });

  managing.patch('decideDuplicatePair', '/api/v1/ai-analysis/duplicate-pairs/:pair_id/status', {
    ifMatch: false,
    permissionNote: 'ai_analysis.view',
    summary: 'Confirm or dismiss a pair, or mark it as under review',
    body: DecisionBody,
    responses: ok('The pair', ExplainedPairSchema),
    handler: ({ ctx, params: { pair_id }, body }) =>
      decidePair(ctx, pair_id, body.status, (sql) => explainPair(ctx, pair_id, sql)),
  });
}
