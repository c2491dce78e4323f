/**
 * How a field is compared:
 * - `name`: a few words that name the thing; words by their rarity, spelling mistakes forgiven
 * - `text`: a longer description; words by their rarity
 * - `code`: a serial, model, part or external number, a telephone number: equal without punctuation, or nearly
 * - `version`: `10.2.1`; how many leading parts agree
 * - `choice`: one of a few values; equal or not
 * - `number`: a quantity or price; by the ratio of both
 */
export type FieldKind = 'name' | 'text' | 'code' | 'version' | 'choice' | 'number';

/** A field that both records may have. */
export interface MatchField {
  name: string;
  kind: FieldKind;
  /** How much what it says counts, beside the other fields; 1 unless given, 0 leaves it out. */
  weight?: number;
}

/** A record to be compared. An absent, empty or null value says nothing for or against a match. */
export interface MatchRecord {
  /** Unique in its list. */
  id: string;
  values: Readonly<Record<string, string | number | null | undefined>>;
}

/** `match`: more likely than not; `possible`: worth a look; `no`: neither. */
export type MatchClass = 'match' | 'possible' | 'no';

/** What one aspect of a pair says. */
export interface Evidence {
  /** A field, or one of ALL_WORDS and ALL_CODES. */
  aspect: string;
  /** 0..1; 1 says that both are equal, null that one of them has no value. */
  similarity: number | null;
  /** What it adds to the logarithm to base 2 of the odds: 1 doubles them, -1 halves them. */
  bits: number;
}

/** Two records that may stand for one thing. */
export interface MatchPair {
  left: string;
  right: string;
  /** The probability that they match, 0..1, with regard to what else either of them may match. */
  score: number;
  class: MatchClass;
  /** The probability from the pair alone, as if it had no rivals. */
  alone: number;
  /** Aspects in the order of the fields; their bits and the model's `priorBits` add up to the odds of `alone`. */
  evidence: Evidence[];
}

/** The aspect of all words of a record, whichever field they stand in. */
export const ALL_WORDS = '*words';
/** The aspect of all codes of a record, such as model and part numbers, whichever field they stand in. */
export const ALL_CODES = '*codes';

/** What was learned of an aspect. */
export interface AspectModel {
  aspect: string;
  /** Bits at similarities 0.05, 0.15 .. 0.95; between them along straight lines, never falling. */
  bits: number[];
}

/** What a comparison learned from its records; may be kept, and given to a later one. */
export interface MatchModel {
  aspects: AspectModel[];
  /** Bits of a pair of which nothing is known but that it was compared. */
  priorBits: number;
  /** Whether each record has been taken to match at most one other. */
  exclusive: boolean;
  /** Of two records that match a third, the share that match each other; 1 where there are none. */
  transitivity: number;
}

export interface MatchOptions {
  fields: readonly MatchField[];
  /** Scores from which a pair is a `match` (0.5 unless given) and `possible` (0.1 unless given). */
  thresholds?: { match: number; possible: number };
  /** A model to apply instead of learning one from these records. */
  model?: MatchModel;
  /** Candidates that each record brings in at most, by words, pieces of words and codes each (12 unless given). */
  neighbours?: number;
  /**
   * `left`: only the nearest of each record of the left list are compared, so that a long list can be compared with another
   * part by part; `both` unless given.
   */
  from?: 'both' | 'left';
}

export interface MatchResult {
  /** Pairs that are a `match` or `possible`, the highest score first, equal ones by their ids. */
  pairs: MatchPair[];
  model: MatchModel;
  /** Pairs that were compared; all others have no rare word, piece of a word or code in common. */
  compared: number;
}
