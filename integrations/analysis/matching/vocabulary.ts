import vocabulary from './vocabulary.json' with { type: 'json' };

/** Splits a list separated by spaces. */
export const listed = (words: string): string[] => words.split(' ');

/** The key of each listed word. */
export const keyByWord = (lists: Readonly<Record<string, string>>): Map<string, string> =>
  new Map(Object.entries(lists).flatMap(([key, words]) => listed(words).map((word) => [word, key] as const)));

const fillers = new Set(listed(vocabulary.fillers));
const general = new Set(listed(vocabulary.general));
/** Factors on the IDF weight of a word. */
const WEIGHTS = { filler: 0.2, general: 0.5 };

/** Whether a word is a stop word, which has no letter in an abbreviation by initials. */
export const isFiller = (word: string): boolean => fillers.has(word);

/** Whether a word is distinctive: neither a filler nor a general word such as `system`. */
export const isDistinctive = (word: string): boolean => !fillers.has(word) && !general.has(word);

/** The factor on the IDF weight of a word: reduced for fillers and general words, even if they are rare in a list. */
export const weightOf = (word: string): number =>
  fillers.has(word) ? WEIGHTS.filler : general.has(word) ? WEIGHTS.general : 1;

const abbreviations = keyByWord(vocabulary.abbreviations);
const addressParts = keyByWord(vocabulary.addressParts);

/** Expands common abbreviations in names. */
export const expanded = (word: string): string => abbreviations.get(word) ?? word;

/** Expands common abbreviations in street addresses. */
export const expandedInAddress = (word: string): string =>
  addressParts.get(word) ?? (word.length > 5 ? word.replace(/str(?:asse|aat)?$/, 'street') : word);

const units = keyByWord(vocabulary.units);

/** The standard spelling of a unit of measure; undefined if the folded word is not a unit. */
export const unitOf = (word: string): string | undefined => units.get(word);

const environments = keyByWord(vocabulary.environments);
const ambiguous = new Set(listed(vocabulary.environmentsThatAreWords));

/** The English name of the environment that a folded word denotes. */
export const environmentNamed = (word: string): string | undefined => environments.get(word);

/** Whether an environment's name can also be a purpose, such as `development`. */
export const isAmbiguousEnvironment = (word: string): boolean => ambiguous.has(word);
