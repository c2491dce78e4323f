import type { CardRecord } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import type { Drift } from '../matching/drift.ts';
import type { Decision, MatchField, MatchModel } from '../matching/matching.types.ts';
import type { Work } from '../matching/snapshots.ts';

/** Serialized data, see `pack`. */
export type Packed = Uint8Array<ArrayBuffer>;

/** Requests to the thread, in order: begin, pages of records, and stages. */
export type Question =
  | { ask: 'begin'; fields: readonly MatchField[]; base: Packed | null; previous: Packed | null }
  | { ask: 'records'; records: CardRecord[] }
  /** Whether all records are the same as in the last run. */
  | { ask: 'same' }
  | { ask: 'stage'; stage: Stage; stored: Packed | null }
  | { ask: 'result'; decisions: readonly Decision[] };

/**
 * Stages in order: nearest neighbours, similarities, and the learned model. Each returns its packed result, or null if it
 * used the stored result.
 */
export const stages = ['neighbours', 'similarities', 'model'] as const;
export type Stage = (typeof stages)[number];

export type Answer = { done: true } | { same: boolean } | { packed: Packed | null } | { result: Found };

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
