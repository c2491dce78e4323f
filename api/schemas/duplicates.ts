import Type from 'typebox';
import {
  DuplicateCluster,
  DuplicatePair,
  searchModes,
} from '../../domain/analysis/duplicates/duplicates.model.ts';
import { component, itemComponent, Nullable, object, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { CardMergeBody } from './card-merge.ts';

const literals = (values: readonly string[], options = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  );
const Count = Type.Integer({ minimum: 0 });

export const SearchBody = Type.Unsafe<
  { card_types?: string[]; mode?: (typeof searchModes)[number] } | null | undefined
>({
  ...object({
    card_types: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 200,
        description: 'The types whose cards are compared with each other; by default all visible ones',
      }),
    ),
    mode: Type.Optional(
      literals(searchModes, {
        default: 'changes',
        description:
          '`changes`: compares cards that have changed since the last run; `everything`: all cards, with the current model; `learn`: all cards, and learns a new model. Without a model each of them learns one.',
      }),
    ),
  }),
  type: ['object', 'null'],
});

export const DecisionBody = object({ status: DuplicateCluster.columns.status });

const { id, card_type, card_ids, status, cohesion, run_id, decided_by, decided_at } =
  DuplicateCluster.columns;
const clusterMembers = {
  id,
  cluster_name: Type.String({ description: 'The name of the card that is recommended as survivor' }),
  card_type,
  functional_domain: Nullable(
    Type.String({ description: 'The business capability to which most of its cards are related' }),
  ),
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

const { similarities: _similarities, bits: _bits, model_id: _model, ...pairColumns } = DuplicatePair.columns;
const pairMembers = {
  ...pairColumns,
  status,
  asked_again: Type.Boolean({
    description: 'It was decided, but the compared values of a card have changed since',
  }),
  decided_by,
  decided_at,
};

export const DuplicateClusterSchema = itemComponent('DuplicateCluster', clusterMembers);

export const DuplicatePairSchema = itemComponent('DuplicatePair', {
  ...pairMembers,
  left_name: Type.String(),
  right_name: Type.String(),
});

export const ExplainedPairSchema = component('ExplainedPair', {
  ...pairMembers,
  reasons: Type.Array(Type.String(), {
    description: 'The reasons for and against it by the current values of the cards, the strongest first',
  }),
});

export const ClusterDetailSchema = component('DuplicateClusterDetail', {
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
  effect: object(
    {
      survivor_id: Uuid,
      merged_ids: Type.Array(Uuid),
      relations_moved: Nullable(Count),
      relations_folded: Nullable(Count),
      children_moved: Count,
      people_affected: Nullable(Count),
      cost_saved: Nullable(Type.Number({ description: 'Annual; null without `costs.view`' })),
    },
    { description: 'The effect of the recommended merge' },
  ),
});

const { survivor_id, merged_ids, fields, dry_run } = CardMergeBody.properties;

export const ClusterMergeBody = object({
  survivor_id: Type.Optional({ ...survivor_id, description: 'By default the recommended one' }),
  merged_ids: Type.Optional({ ...merged_ids, description: 'By default all others of the cluster' }),
  fields,
  dry_run,
});
