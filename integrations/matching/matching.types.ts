/**
 * How a field is compared:
 * - `name`: a few words that name the thing; words by their rarity, spelling mistakes forgiven
 * - `list`: several names or aliases; the two that are the most alike
 * - `address`: a street address; as a name, and by the numbers in it
 * - `text`: a longer description; words by their rarity
 * - `code`: a serial, model, part or external number, a telephone number: equal without punctuation, or nearly
 * - `version`: `10.2.1`; how many leading parts agree
 * - `choice`: one of a few values, a parent; equal or not
 * - `set`: ids, such as those of related things or of all ancestors; what is common to both, rare ones counting more
 * - `number`: a quantity, price or cost; by the ratio of both
 * - `date`: a day; by the days between
 */
export type FieldKind =
  | 'name'
  | 'list'
  | 'address'
  | 'text'
  | 'code'
  | 'version'
  | 'choice'
  | 'set'
  | 'number'
  | 'date';

/** A field that both records may have. */
export interface MatchField {
  name: string;
  kind: FieldKind;
  /** How much what it says counts, beside the other fields; 1 unless given, 0 leaves it out. */
  weight?: number;
  /** Of a `name`: a field whose words, such as the vendor's, are passed over where the name begins with them. */
  without?: string;
}

/** What a record says in a field; lists are for the kinds `list` and `set`, and are read one after the other elsewhere. */
export type MatchValue = string | number | null | undefined | readonly string[];

/** A record to be compared. An absent, empty or null value says nothing for or against a match. */
export interface MatchRecord {
  /** Unique in its list. */
  id: string;
  values: Readonly<Record<string, MatchValue>>;
}

/** What people decided of a pair, whichever way round. */
export interface Decision {
  left: string;
  right: string;
  /** Whether both stand for one thing. */
  same: boolean;
}

/** `match`: more likely than not; `possible`: worth a look; `no`: neither. */
type MatchClass = 'match' | 'possible' | 'no';

/** What one aspect of a pair says. */
export interface Evidence {
  /** A field, or one of ALL_WORDS, ALL_CODES, and the rules of variants. */
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
/** The aspect of the numbers in an address, behind the field's name. */
export const NUMBERS = ' numbers';
/** Rules of what tells variants of one product apart in their names; their bits are given, not learned. */
export const VARIANTS = ['*environment', '*version', '*region', '*series'] as const;

/** What was learned of an aspect. */
interface AspectModel {
  aspect: string;
  /** Bits at similarities 0.05, 0.15 .. 0.95; between them along straight lines, never falling. */
  bits: number[];
  /** Shares of the compared pairs in each of these bins, and without a value on one side; what drift is measured against. */
  seen: number[];
}

/** How often each term of a space occurred when the model was learned, in the order of terms; those that came once are left out. */
export interface TermCounts {
  rows: number;
  terms: string[];
  counts: number[];
}

/** What was learned of the words in names. */
export interface Dictionary {
  /** Abbreviations by initials that names use, with what they stand for: `erp`, `enterprise resource planning`. */
  acronyms: Record<string, string>;
  /** Words that some names write together, as those who write them apart do: `sales force`. */
  joints: string[];
  /** Words with an umlaut in two letters that others write in one: `mueller`. */
  umlauts: string[];
  /** By field: words with which names may begin that say who made the thing. */
  leading: Record<string, string[]>;
  /** Of these, words that are also names of a thing by themselves: they stay. */
  alone: Record<string, string[]>;
  /** Words that take each other's place in rows of names, such as sites: `Payroll Graz`, `Payroll Linz`, `Payroll Wien`. */
  series: string[];
}

/** What a comparison learned from its records; plain data that may be kept, and given to a later one. See modelId. */
export interface MatchModel {
  /** Of this form of model. */
  format: typeof MODEL_FORMAT;
  /** The fields that it was learned for; it can be applied to the same alone. */
  fields: MatchField[];
  aspects: AspectModel[];
  /** Bits of a pair of which nothing is known but that it was compared. */
  priorBits: number;
  /** Whether each record has been taken to match at most one other. */
  exclusive: boolean;
  /** Of two records that match a third, the share that match each other; 1 where there are none. */
  transitivity: number;
  dictionary: Dictionary;
  /** By space of terms. */
  terms: Record<string, TermCounts>;
  /** How many records, pairs and people's decisions it was learned from, and the share of words that came once. */
  learned: { records: number; pairs: number; decisions: number; newWords: number };
}

/** Grows whenever a model of an earlier form would be read wrongly. */
export const MODEL_FORMAT = 3;

export interface MatchOptions {
  fields: readonly MatchField[];
  /** What people decided of pairs of these records; a model that is learned takes account of it. */
  decisions?: readonly Decision[];
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
