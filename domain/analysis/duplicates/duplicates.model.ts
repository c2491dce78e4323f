import Type from 'typebox';
import { Internal, type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** The decisions about pairs. */
const pairDecisions = ['confirmed', 'investigating', 'dismissed'] as const;
export type PairDecision = (typeof pairDecisions)[number];

/** The status of clusters and pairs: the decision, if there is one. */
const clusterStatuses = ['pending', 'confirmed', 'investigating', 'dismissed'] as const;

export type ClusterStatus = (typeof clusterStatuses)[number];

/** What a run compares: changed cards, all cards with the current model, or all cards to learn a new model. */
export const searchModes = ['changes', 'everything', 'learn'] as const;

export type SearchMode = (typeof searchModes)[number];

/** The parameters of a run; all visible types by default. */
export interface DuplicateParameters {
  card_types?: string[];
  mode: SearchMode;
}

const Share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

/** A version of a learned model, by the hash of its content. */
export class DuplicateModel extends rowModel('duplicate_models', {
  id: Type.String(),
  card_type: Type.String(),
  fields: Type.Unknown(),
  weights: Type.Unknown(),
  learned_at: Timestamp,
}) {}

/** The state of the last run over a card type. */
export class DuplicateState extends rowModel('duplicate_states', {
  card_type: Type.String(),
  run_id: Uuid,
  model_id: Type.String(),
  base_model: Type.String(),
  snapshot: Type.String(),
  figures: OpenObject,
  found_at: Timestamp,
}) {}

/** Cards that represent the same object. */
export class DuplicateCluster extends rowModel('duplicate_clusters', {
  id: Type.String({ ...Uuid, description: 'Derived from the cards: the same cards have the same cluster' }),
  card_type: Type.String(),
  card_ids: SqlArray(Uuid, { description: 'Those that the caller sees' }),
  status: Choice(
    clusterStatuses,
    '`pending`: nobody has decided, or the compared values of a card have changed since the decision',
  ),
  cohesion: Share('The mean similarity of each card to the others'),
  least_score: Internal(Type.Number()),
  most_score: Internal(Type.Number()),
  run_id: Uuid,
  decided_by: Nullable(Uuid),
  decided_at: Nullable(Timestamp),
  found_at: Internal(Timestamp),
  created_at: Internal(Timestamp),
}) {}

/** The tiers of pairs by their probability, and the least probability of each. */
export const tiers = { certain: 0.95, probable: 0.5, possible: 0.1 } as const;

export const Tier = Choice(
  ['certain', 'probable', 'possible'],
  `\`certain\`: from a score of ${tiers.certain}; \`probable\`: from ${tiers.probable}; \`possible\`: below, to be reviewed`,
);

export class DuplicatePair extends rowModel('duplicate_pairs', {
  id: Type.String({ ...Uuid, description: 'Derived from the two cards' }),
  card_type: Type.String(),
  left_id: Uuid,
  right_id: Uuid,
  class: Choice(['match', 'possible']),
  score: Share('The probability that both represent the same object'),
  alone: Share('The probability if neither card had other candidates'),
  similarities: Internal(SqlArray(Nullable(Type.Number()))),
  bits: Internal(SqlArray(Type.Number())),
  model_id: Internal(Type.String()),
  cluster_id: Nullable(Uuid),
}) {}

/** A decision about a pair, which applies while the compared values of both cards stay equal. */
export class DuplicateDecision extends rowModel('duplicate_decisions', {
  id: Uuid,
  card_type: Type.String(),
  left_id: Uuid,
  right_id: Uuid,
  decision: Choice(pairDecisions),
  left_facts: Type.String(),
  right_facts: Type.String(),
  score: Nullable(Type.Number()),
  has_lapsed: Type.Boolean(),
  decided_by: Nullable(Uuid),
  decided_at: Timestamp,
}) {}
export type DecisionRow = RowOf<typeof DuplicateDecision>;
