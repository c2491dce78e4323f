import Type from 'typebox';
import { clusterStatuses, searchModes } from '../../domain/analysis/duplicates/duplicates.types.ts';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { CardMergeBody } from './card-merge.ts';

const literals = (values: readonly string[], options = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  );
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Count = Type.Integer({ minimum: 0 });

export const ClusterStatusSchema = Type.Unsafe<(typeof clusterStatuses)[number]>(
  literals(clusterStatuses, {
    description: '`pending`: nobody has decided, or what is known of a card has changed since',
  }),
);

export const SearchBody = Type.Unsafe<
  { card_types?: string[]; mode?: (typeof searchModes)[number] } | null | undefined
>({
  ...Type.Object(
    {
      card_types: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
          minItems: 1,
          maxItems: 200,
          description: 'Types whose cards are compared among themselves; absent: all that are shown',
        }),
      ),
      mode: Type.Optional(
        literals(searchModes, {
          default: 'changes',
          description:
            '`changes`: what has changed since the last run is compared anew; `everything`: all cards, by the model that was learned before; `learn`: all cards, and the model is learned anew. Where nothing was learned yet, each of them learns.',
        }),
      ),
    },
    closed,
  ),
  type: ['object', 'null'],
});

export const DecisionBody = Type.Object({ status: ClusterStatusSchema }, closed);

const clusterMembers = {
  id: Type.String({ ...Uuid, description: 'Follows from the cards: the same cards are the same cluster' }),
  cluster_name: Type.String({ description: 'The name of the card that is recommended as survivor' }),
  card_type: Type.String(),
  functional_domain: Nullable(
    Type.String({ description: 'The business capability that most of its cards are related to' }),
  ),
  card_ids: Type.Array(Uuid, { description: 'Those that the caller sees' }),
  card_names: Type.Array(Type.String()),
  evidence: Type.String(),
  recommendation: Type.String(),
  status: ClusterStatusSchema,
  cohesion: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'The mean of what binds each card to the others',
  }),
  run_id: Uuid,
  decided_by: Nullable(Uuid),
  decided_at: Nullable(Timestamp),
  analysed_at: Timestamp,
};

const pairMembers = {
  id: Type.String({ ...Uuid, description: 'Follows from the two cards' }),
  card_type: Type.String(),
  left_id: Uuid,
  right_id: Uuid,
  class: literals(['match', 'possible']),
  score: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'The probability that both stand for one thing',
  }),
  alone: Type.Number({ minimum: 0, maximum: 1, description: 'As if neither had other candidates' }),
  cluster_id: Nullable(Uuid),
  status: ClusterStatusSchema,
  asked_again: Type.Boolean({
    description: 'It was decided, but one of the cards says something else since then',
  }),
  decided_by: Nullable(Uuid),
  decided_at: Nullable(Timestamp),
};

export const DuplicateClusterSchema = Type.Partial(Type.Object(clusterMembers), {
  $id: 'DuplicateCluster',
  ...closed,
});

export const DuplicatePairSchema = Type.Partial(
  Type.Object({ ...pairMembers, left_name: Type.String(), right_name: Type.String() }),
  { $id: 'DuplicatePair', ...closed },
);

export const ExplainedPairSchema = Type.Object(
  {
    ...pairMembers,
    reasons: Type.Array(Type.String(), {
      description: 'What speaks for and against it by what the cards say now, the strongest first',
    }),
  },
  { $id: 'ExplainedPair', ...closed },
);

export const ClusterDetailSchema = Type.Object(
  {
    ...clusterMembers,
    cards: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          external_id: Nullable(Type.String()),
          subtype: Nullable(Type.String()),
          approval_status: Type.String(),
          data_quality: Type.Number(),
          relations: Nullable(Count),
          people: Nullable(Type.Integer({ minimum: 0, description: 'Users with a role on the card' })),
          cost: Nullable(Type.Number({ description: 'In a year; null also without `costs.view`' })),
          created_at: Timestamp,
        },
        closed,
      ),
      { description: 'The recommended survivor first: approved, well described, with many relations, old' },
    ),
    pairs: Type.Array(Type.Ref('ExplainedPair#')),
    effect: Type.Object(
      {
        survivor_id: Uuid,
        merged_ids: Type.Array(Uuid),
        relations_moved: Nullable(Count),
        relations_folded: Nullable(Count),
        children_moved: Count,
        people_affected: Nullable(Count),
        cost_saved: Nullable(Type.Number({ description: 'In a year; null also without `costs.view`' })),
      },
      { ...closed, description: 'What a merge as recommended would do' },
    ),
  },
  { $id: 'DuplicateClusterDetail', ...closed },
);

const { survivor_id, merged_ids, fields, dry_run } = CardMergeBody.properties;

export const ClusterMergeBody = Type.Object(
  {
    survivor_id: Type.Optional({ ...survivor_id, description: 'Absent: as recommended' }),
    merged_ids: Type.Optional({ ...merged_ids, description: 'Absent: all others of the cluster' }),
    fields,
    dry_run,
  },
  closed,
);

const Agreement = Type.Object({ precision: Nullable(Share), recall: Nullable(Share) }, closed);

export const DuplicateQualitySchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          card_type: Type.String(),
          confirmed: Count,
          dismissed: Count,
          investigating: Count,
          before_decision: {
            ...Agreement,
            description: 'By the scores that pairs had before anybody decided',
          },
          now: {
            ...Agreement,
            description: 'By the scores of the last run, which has learned from decisions',
          },
          model: Nullable(Type.String({ description: 'The version of what was applied last' })),
          learn_advised: Type.Boolean({
            description:
              'The cards have moved on from those that the model was learned from: run with `learn`',
          }),
        },
        closed,
      ),
    ),
  },
  { $id: 'DuplicateQuality', ...closed },
);
