import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import type { Drift } from '../matching/drift.ts';
import type { Decision, MatchField, MatchModel, Vocabulary } from '../matching/matching.types.ts';
import type { Work } from '../matching/snapshots.ts';

/** Serialized data, see `pack`. */
export type Packed = Uint8Array<ArrayBuffer>;

export interface SearchOptions {
  fields: readonly MatchField[];
  /** A model to apply; null: a model is learned. */
  base: Packed | null;
  /** The snapshot of the last run with the model. */
  previous: Packed | null;
  decisions: readonly Decision[];
  /** That of the workspace, which replaces that of the model; undefined if it is empty. */
  vocabulary: Vocabulary | undefined;
  limits?: SearchLimits | undefined;
}

/** Limits of what is in memory at once, in cards; one with long texts counts several times. */
export interface SearchLimits {
  /** Cards up to which all are compared at once; more are compared in parts, two at a time. */
  atOnce: number;
  /** Cards of a part. */
  part: number;
}

/** Requests to the thread, in order: start, pages of records, advance until there is a result, and its pairs. */
export type SearchRequest =
  | { request: 'start'; options: SearchOptions }
  | { request: 'records'; records: CardRecord[] }
  /** Whether all records are the same as in the last run. */
  | { request: 'compare' }
  /** Searches for about a second. */
  | { request: 'advance' }
  /** Some of the pairs of the result, from a place on; none at the end. */
  | { request: 'pairs'; from: number };

export type SearchResponse =
  | { done: true }
  | { isUnchanged: boolean }
  | { progress: number }
  | { found: Omit<Found, 'pairs'> }
  | { pairs: FoundPair[] };

/** A pair that is a match or possible; aspects in the model's order. */
export interface FoundPair {
  left: string;
  right: string;
  class: 'match' | 'possible';
  score: number;
  alone: number;
  similarities: (number | null)[];
  bits: number[];
}

/** The result of the search among the cards of one type. */
export interface Found {
  pairs: FoundPair[];
  /** The model learned from the records alone, and the applied model, adjusted by decisions. */
  base: Packed;
  modelId: string;
  fields: MatchField[];
  weights: Pick<MatchModel, 'aspects' | 'priorBits' | 'exclusive' | 'transitivity' | 'learned'> & {
    /** Aspects, in the order of the pairs' evidence. */
    order: string[];
  };
  snapshot: Packed;
  work: Work;
  /** Number of pairs compared in this run or an earlier one. */
  compared: number;
  drift: Drift;
}
