/**
 * How a field is compared:
 * - `name`: a few words that name the object; words weighted by rarity, with tolerance for misspellings
 * - `list`: several names or aliases; the most similar two
 * - `address`: a street address; as a name, and by its numbers
 * - `text`: a longer description; words weighted by rarity
 * - `code`: a serial, model, part, external or telephone number: equal or nearly equal without punctuation
 * - `version`: `10.2.1`; number of equal leading parts
 * - `choice`: one of a few values, or a parent; equal or not
 * - `set`: ids, such as those of related objects or ancestors; overlap weighted by rarity
 * - `number`: a quantity, price or cost; by ratio
 * - `date`: a date; by the distance in days
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

/** A compared field. */
export interface MatchField {
  name: string;
  kind: FieldKind;
  /** Weight relative to other fields; default 1, 0 excludes it. */
  weight?: number;
  /** For a `name`: a field, such as the vendor, whose words are ignored at the beginning of the name. */
  without?: string;
}

/** The value of a field; arrays are for the kinds `list` and `set`, and concatenated for other kinds. */
export type MatchValue = string | number | null | undefined | readonly string[];

/** A record to be compared. An absent, empty or null value is no evidence. */
export interface MatchRecord {
  /** Unique in its list. */
  id: string;
  values: Readonly<Record<string, MatchValue>>;
}

/** A person's decision about a pair, in either order. */
export interface Decision {
  left: string;
  right: string;
  /** Whether both represent the same object. */
  same: boolean;
}

/** `match`: more probable than not; `possible`: to be reviewed; `no`: neither. */
type MatchClass = 'match' | 'possible' | 'no';

/** The evidence of one aspect of a pair. */
export interface Evidence {
  /** A field, ALL_WORDS, ALL_CODES, RARITY, or a rule that distinguishes variants by name, whose bits are not learned. */
  aspect: string;
  /** 0..1; 1: equal, null: one of them has no value. */
  similarity: number | null;
  /** Added to the binary logarithm of the odds: 1 doubles them, -1 halves them. */
  bits: number;
}

/** Two records that may represent the same object. */
export interface MatchPair {
  left: string;
  right: string;
  /** The probability that they match, 0..1, considering other pairs of the records. */
  score: number;
  class: MatchClass;
  /** The probability without other pairs. */
  alone: number;
  /** Aspects in the order of the fields; their bits and the model's `priorBits` add up to the odds of `alone`. */
  evidence: Evidence[];
}

/** The aspect of all words of a record, independent of their field. */
export const ALL_WORDS = '*words';
/** The aspect of all codes of a record, such as model and part numbers, independent of their field. */
export const ALL_CODES = '*codes';
/** The aspect of how rare the words of equal names are. */
export const RARITY = '*rarity';
/** Suffix of an address field's aspect for its numbers. */
export const NUMBERS = ' numbers';
/** The learned parameters of an aspect. */
interface AspectModel {
  aspect: string;
  /** Bits at similarities 0.05, 0.15 .. 0.95; monotonic, interpolated linearly. */
  bits: number[];
  /** Shares of the compared pairs by bin, and without a value on one side; the reference for drift. */
  seen: number[];
}

/** Frequencies of a space's terms in the training data, sorted by term; terms that occurred once are omitted. */
export interface TermCounts {
  rows: number;
  terms: string[];
  counts: number[];
}

/** Learned facts about words in names. */
export interface Dictionary {
  /** Abbreviations by initials and their expansions: `erp`, `enterprise resource planning`. */
  acronyms: Record<string, string>;
  /** Words that some names join, in separated form: `sales force`. */
  joints: string[];
  /** Words with a transcribed umlaut that others write as one letter: `mueller`. */
  umlauts: string[];
  /** By field: leading words of names that denote the vendor. */
  leading: Record<string, string[]>;
  /** Leading words that are also names of objects, which are not removed. */
  alone: Record<string, string[]>;
  /** Words that vary in series of names, such as sites: `Payroll Graz`, `Payroll Linz`, `Payroll Wien`. */
  series: string[];
}

/** What a workspace adds to the word lists; plain data. */
export interface Vocabulary {
  /** Groups of equal words and phrases: names are compared as if they contained the first one instead of another. */
  synonyms: readonly (readonly string[])[];
  /** Vendors that are ignored at the beginning of names, in addition to the known ones. */
  vendors: readonly string[];
}

/** A learned model; plain data that can be stored and reused. See modelId. */
export interface MatchModel {
  /** Version of the format. */
  format: typeof MODEL_FORMAT;
  /** The fields of the model; it can only be applied to the same fields. */
  fields: MatchField[];
  aspects: AspectModel[];
  /** Prior bits of a compared pair. */
  priorBits: number;
  /** Whether each record is assumed to match at most one other. */
  exclusive: boolean;
  /** The share of two records that match a third and also each other; 1 if there are none. */
  transitivity: number;
  dictionary: Dictionary;
  /** Undefined if only the word lists of the service apply. */
  vocabulary?: Vocabulary | undefined;
  /** Frequencies by space. */
  terms: Record<string, TermCounts>;
  /** Number of records, pairs and decisions in the training data, and the share of words that occurred once. */
  learned: { records: number; pairs: number; decisions: number; newWords: number };
}

/** A model by kind of aspect, trained on labelled lists; see `npm run bench:matching -- --train`. */
export interface Prior {
  /** The prior bits of a pair whose names are similar, and the share of matches among these in the training lists. */
  bits: number;
  share: number;
  /** By kind of aspect the bits at similarities 0.05, 0.15 .. 0.95. */
  kinds: Record<string, number[]>;
  /** By kind of aspect the shares of the matches with such a similarity, where the field is reliable. */
  matches: Record<string, number[]>;
}

/** Incremented when models of an earlier format become incompatible. */
export const MODEL_FORMAT = 8;

export interface MatchOptions {
  fields: readonly MatchField[];
  /** Decisions about pairs of these records, which a learned model considers. */
  decisions?: readonly Decision[];
  /** Minimum scores of a `match` (default 0.5) and of `possible` (default 0.1). */
  thresholds?: { match: number; possible: number };
  /** The vocabulary to learn a model with; a given model has its own. */
  vocabulary?: Vocabulary | undefined;
  /** A model to apply instead of learning one. */
  model?: MatchModel;
  /** The prior to learn from, instead of the trained one. */
  prior?: Prior;
  /** Maximum candidates per record and space (words, pieces of words, codes); default 12. */
  neighbours?: number;
  /**
   * `left`: only the nearest records of each left record are compared, so that a long list can be compared in parts; default
   * `both`.
   */
  from?: 'both' | 'left';
}

export interface MatchResult {
  /** Pairs that are a `match` or `possible`, the highest score first, equal ones by their ids. */
  pairs: MatchPair[];
  model: MatchModel;
  /** Number of compared pairs; all others have no rare word, piece of a word or code in common. */
  compared: number;
}
