import vocabulary from './vocabulary.json' with { type: 'json' };

/** The words of a list that is separated by spaces. */
export const listed = (words: string): string[] => words.split(' ');

/** The key under which each of the listed words stands. */
export const keyByWord = (lists: Readonly<Record<string, string>>): Map<string, string> =>
  new Map(Object.entries(lists).flatMap(([key, words]) => listed(words).map((word) => [word, key] as const)));

const fillers = new Set(listed(vocabulary.fillers));
const general = new Set(listed(vocabulary.general));
/** Factors on the weight that a word has by its rarity. */
const WEIGHTS = { filler: 0.2, general: 0.5 };

/** Whether a word of a name has no meaning, and no letter in an abbreviation by initials. */
export const isFiller = (word: string): boolean => fillers.has(word);

/** Whether a word has a meaning of its own: neither a filler nor a general word such as `system`. */
export const isDistinctive = (word: string): boolean => !fillers.has(word) && !general.has(word);

/** The factor on the weight that a word has by its rarity: less for fillers and general words, however rare in a list. */
export const weightOf = (word: string): number =>
  fillers.has(word) ? WEIGHTS.filler : general.has(word) ? WEIGHTS.general : 1;

const abbreviations = keyByWord(vocabulary.abbreviations);
const addressParts = keyByWord(vocabulary.addressParts);

/** A word of a name, written out if it is a common abbreviation. */
export const expanded = (word: string): string => abbreviations.get(word) ?? word;

/** A word of a street address, written out if it is a common abbreviation. */
export const expandedInAddress = (word: string): string =>
  addressParts.get(word) ?? (word.length > 5 ? word.replace(/str(?:asse|aat)?$/, 'street') : word);

const units = keyByWord(vocabulary.units);

/** The standard spelling of a unit of measure; undefined if the folded word is none. */
export const unitOf = (word: string): string | undefined => units.get(word);

const environments = keyByWord(vocabulary.environments);
const ambiguous = new Set(listed(vocabulary.environmentsThatAreWords));

/** The environment that a folded word names, in English. */
export const environmentNamed = (word: string): string | undefined => environments.get(word);

/** Whether the name of an environment may also be the purpose of a thing, as `development` is. */
export const isAmbiguousEnvironment = (word: string): boolean => ambiguous.has(word);
