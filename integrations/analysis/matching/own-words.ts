import type { MatchField, MatchRecord, MatchValue, Vocabulary } from './matching.types.ts';
import { Synonyms } from './synonyms.ts';
import { type VendorOf, vendorOf, vendorReader } from './vendors.ts';

/** A vocabulary that is prepared for comparisons. */
export interface OwnWords {
  synonyms: Synonyms;
  vendorOf: VendorOf;
}

const none: OwnWords = { synonyms: new Synonyms([]), vendorOf };
/** Prepared vocabularies, since the same one is used for many comparisons. */
const prepared = new WeakMap<Vocabulary, OwnWords>();

/** Prepares a vocabulary. */
export function ownWordsOf(vocabulary: Vocabulary | undefined): OwnWords {
  if (!vocabulary) return none;
  const before = prepared.get(vocabulary);
  if (before) return before;
  const synonyms = new Synonyms(vocabulary.synonyms);
  const vendorOf = vendorReader(vocabulary.vendors, (name) => synonyms.written(name));
  const made = { synonyms, vendorOf };
  prepared.set(vocabulary, made);
  return made;
}

/** Whether two vocabularies are the same. */
export function isSameVocabulary(a: Vocabulary | undefined, b: Vocabulary | undefined): boolean {
  const text = ({ synonyms, vendors }: Vocabulary) => JSON.stringify([synonyms, vendors]);
  return text(a ?? EMPTY) === text(b ?? EMPTY);
}

const EMPTY: Vocabulary = { synonyms: [], vendors: [] };

/** The vocabulary of a setting; undefined if it is empty. */
export const vocabularyOf = (setting: Vocabulary): Vocabulary | undefined =>
  setting.synonyms.length + setting.vendors.length > 0 ? setting : undefined;

/** A record in whose names the first term of its group stands in place of each term. */
export function writtenRecord(
  record: MatchRecord,
  names: readonly MatchField[],
  synonyms: Synonyms,
): MatchRecord {
  const values = { ...record.values };
  for (const { name } of names) values[name] = writtenValue(values[name], synonyms);
  return { id: record.id, values };
}

function writtenValue(value: MatchValue, synonyms: Synonyms): MatchValue {
  if (typeof value === 'string') return synonyms.written(value);
  return Array.isArray(value) ? value.map((item) => synonyms.written(item)) : value;
}
