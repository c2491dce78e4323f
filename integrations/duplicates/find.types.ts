import type { CardRecord } from '../../domain/analysis/duplicates/duplicates.records.ts';
import type { Drift } from '../matching/drift.ts';
import type { Decision, MatchField, MatchModel } from '../matching/matching.types.ts';
import type { Work } from '../matching/snapshots.ts';

/** Bytes of plain data; see pack. */
export type Packed = Uint8Array<ArrayBuffer>;

/** What the thread is asked, one after the other: to begin, a page of records at a time, and stage after stage. */
export type Question =
  | { ask: 'begin'; fields: readonly MatchField[]; base: Packed | null; previous: Packed | null }
  | { ask: 'records'; records: CardRecord[] }
  /** Whether all records say what they said when the last run looked at them. */
  | { ask: 'same' }
  | { ask: 'stage'; stage: Stage; stored: Packed | null }
  | { ask: 'result'; decisions: readonly Decision[] };

/**
 * Stages in their order: who is near whom, how alike they are, and what is learned of that. Each answers what it found,
 * packed; or null if it used the stored result.
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

/** What the search among the cards of one type came to. */
export interface Found {
  pairs: FoundPair[];
  /** What was learned of the records alone, and what was applied, with what people decided. */
  base: Packed;
  modelId: string;
  fields: MatchField[];
  weights: Pick<MatchModel, 'aspects' | 'priorBits' | 'exclusive' | 'transitivity' | 'learned'> & {
    /** Aspects in the order in which pairs have them. */
    order: string[];
  };
  snapshot: Packed;
  work: Work;
  /** Pairs that were compared, in this run or an earlier one. */
  compared: number;
  drift: Drift;
}
