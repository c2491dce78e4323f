import { fold } from '../../../platform/fold.ts';
import { memoized } from './normalise.ts';
import {
  beginsRegion,
  directionNamed,
  MOST_REGION_WORDS,
  regionNamed,
  regionOfCode,
  regionWord,
} from './regions.ts';
import vocabulary from './vocabulary.json' with { type: 'json' };
import { environmentNamed, isAmbiguousEnvironment, keyByWord, listed, unitOf } from './vocabulary.ts';

/** The variant of a product as given in a name; distinct values in the order of the name. */
export interface Variant {
  /** `production`, `test`, `development` ... */
  environment: string[];
  /** `10.2`, `2016`, `3`. */
  version: string[];
  /** Countries by code, continents and groups of countries. */
  region: string[];
  /** `api`, `batch`, `database` ... of an application. */
  part: string[];
  /** `black`, `silver` ... of a product. */
  colour: string[];
  /** `professional`, `standard` ... */
  edition: string[];
  /** `windows`, `mac` ... */
  platform: string[];
  /** The business unit that uses an application: `retail`, `leasing` ... */
  unit: string[];
}

/** Maximum characters of a name that are parsed. */
const LONGEST_NAME = 300;

/** Prefix of an ambiguous environment. */
const WEAK = '~';
/** Words next to a variant. */
const BESIDE = new Set(listed(vocabulary.besideVariants));
/** Variants that a single word denotes, except the first of a name. */
const named = {
  part: keyByWord(vocabulary.parts),
  colour: keyByWord(vocabulary.colours),
  edition: keyByWord(vocabulary.editions),
  platform: keyByWord(vocabulary.platforms),
  unit: keyByWord(vocabulary.businessUnits),
};

/** Without single letters, which can be initials. */
const ROMAN = new Map(Object.entries(vocabulary.romanNumerals));
const WORD = /[\p{L}\p{M}\p{N}]+(?:[.-][\p{L}\p{M}\p{N}]+)*['"”″]?/gu;
const MARKER =
  /^(?:v|ver|vers|version|rel|release|edition|gen|generation|mark|mk|phase|part|teil|band|volume|vol|tome|partie|parte|deel)$/;
/** Words without a meaning next to their number. */
const RELEASED = /^(?:v|ver|vers|version|rel|release)$/;
const MARKED = /^(?:v|r|ver|version|rel|release)(\d{1,3}(?:\.\d+)*)$/;
/** `10`, `10.2` or `12c`. */
const NUMBERED = /^\d{1,3}(?:\.\d{1,5})*[a-z]?$/;
/** `9.0.12` */
const RELEASE = /^\d{1,4}\.\d{1,5}\.\d{1,6}(?:\.\d+)*$/;
/** `Host A`; not an initial, which has a dot. */
const LETTERED = /[\p{L}\p{N}]{2}[\s-]+([A-Z])\s*$/u;
const YEAR = /^(?:19[89]|20[0-4])\d$/;

/** Parses the variant of a name; only its first 300 characters are read. */
export function variantOf(name: string): Variant {
  const found: Variant = {
    environment: [],
    version: [],
    region: [],
    part: [],
    colour: [],
    edition: [],
    platform: [],
    unit: [],
  };
  const read = readName(name);
  const { raw, words, tail } = read;
  const add = (what: keyof Variant, value: string | undefined) => {
    if (value && !found[what].includes(value)) found[what].push(value);
  };
  for (const [at, word] of words.entries()) {
    if (words.length > 1) add('environment', environmentAt(word, at > 0 && at >= tail));
    for (const part of word.split('-').slice(1)) add('environment', environmentAt(part, false));
    if (at > 0) add('version', versionAt(words, at, at >= tail));
    if (at > 1 && unitOf(word) === 'user' && /^\d+$/.test(words[at - 1]!))
      add('edition', `${words[at - 1]} user`);
    if (at > 0)
      for (const [what, words] of Object.entries(named)) add(what as keyof typeof named, words.get(word));
    add('region', regionAt(raw, words, at, at >= tail)?.region);
  }
  add('version', LETTERED.exec(name.slice(-LONGEST_NAME))?.[1]?.toLowerCase());
  return found;
}

/** Memoized, since names share words. */
const foldedWord = memoized(fold, 20_000);

/** The words of a name, raw and folded, and the start of the words that only denote the variant. */
function readName(name: string) {
  const raw = name.slice(0, LONGEST_NAME).toWellFormed().match(WORD) ?? [];
  const words = raw.map(foldedWord);
  return { raw, words, tail: tailOf(raw, words) };
}

/**
 * Normalises the variant in a name: `Ledger v2.0 Deutschland (Prod)` as `Ledger 2 germany`; production is the default and
 * omitted. Ambiguous words are not changed.
 */
export function withVariantsWritten(name: string): string {
  const { raw, words, tail } = readName(name);
  const others = new Map<number, string>();
  for (const [at, word] of words.entries()) {
    if (others.has(at)) continue;
    const isInTail = at >= tail;
    const region = regionAt(raw, words, at, isInTail);
    const version = at > 0 ? versionAt(words, at, isInTail) : undefined;
    const environment = environmentWritten(word, words.length > 1, at > 0 && isInTail);
    if (environment !== undefined) others.set(at, environment);
    else if (version !== undefined) {
      others.set(at, version);
      if (RELEASED.test(words[at - 1]!)) others.set(at - 1, '');
    } else if (region) {
      others.set(at, regionWord(region.region));
      for (let next = at + 1; next < at + region.length; next++) others.set(next, '');
    }
  }
  if (others.size === 0) return name;
  let at = 0;
  const read = name.slice(0, LONGEST_NAME).toWellFormed();
  return read.replace(WORD, (word) => others.get(at++) ?? word) + name.slice(LONGEST_NAME);
}

/** The normalised form of a word that is, or ends in, an environment. */
function environmentWritten(word: string, hasOthers: boolean, isInTail: boolean): string | undefined {
  const whole = hasOthers ? environmentAt(word, isInTail) : undefined;
  if (whole !== undefined) return written(whole);
  const parts = word.split('-');
  const last = parts.length > 1 ? environmentAt(parts.at(-1)!, false) : undefined;
  return last === undefined ? undefined : `${parts.slice(0, -1).join('-')} ${written(last)}`;
}

/** The normalised environment; empty for production. */
const written = (environment: string): string =>
  environment === 'production' ? '' : environment.replace(WEAK, '');

/** The start of the words at the end of a name that only denote the variant. */
function tailOf(raw: readonly string[], words: readonly string[]): number {
  const isOfVariant = (at: number) =>
    environmentNamed(words[at]!) !== undefined ||
    NUMBERED.test(words[at]!) ||
    MARKER.test(words[at]!) ||
    ROMAN.has(words[at]!) ||
    BESIDE.has(words[at]!) ||
    regionNamed(words[at]!) !== undefined ||
    directionNamed(words[at]!) !== undefined ||
    regionOfCode(raw[at]!) !== undefined;
  let tail = words.length;
  while (tail > 0 && isOfVariant(tail - 1)) tail--;
  return tail;
}

/** Ambiguous words only count at the end, with the prefix WEAK. */
function environmentAt(word: string, isInTail: boolean): string | undefined {
  const environment = environmentNamed(word);
  if (!environment || !isAmbiguousEnvironment(word)) return environment;
  return isInTail ? `${WEAK}${environment}` : undefined;
}

function versionAt(words: readonly string[], at: number, isInTail: boolean): string | undefined {
  const word = words[at]!;
  const marked = MARKED.exec(word);
  if (marked) return plain(marked[1]!);
  if (MARKER.test(words[at - 1]!)) {
    if (/^\d+(?:\.\d+)*[a-z]?$/.test(word)) return plain(word);
    const roman = ROMAN.get(word);
    if (roman) return roman;
  }
  if (YEAR.test(word) || RELEASE.test(word)) return plain(word);
  if (!isInTail) return undefined;
  const isMeasure = unitOf(word.replace(/^[\d.]+/, '') || (words[at + 1] ?? '')) !== undefined;
  if (NUMBERED.test(word) && !isMeasure) return plain(word);
  return ROMAN.get(word);
}

const plain = (version: string): string => version.replace(/(?<=^|\.)0+(?=\d)/g, '').replace(/(?:\.0)+$/, '');

function regionAt(
  raw: readonly string[],
  words: readonly string[],
  at: number,
  isInTail: boolean,
): { region: string; length: number } | undefined {
  const most = beginsRegion(words[at]!) ? Math.min(MOST_REGION_WORDS, words.length - at) : 0;
  for (let length = most; length > 0; length--) {
    const region = regionNamed(words.slice(at, at + length).join(' '));
    if (region) return { region, length };
  }
  if (at === 0 || !isInTail) return undefined;
  const mixed = raw.some((word) => /\p{Ll}/u.test(word));
  const region = directionNamed(words[at]!) ?? (mixed ? regionOfCode(raw[at]!) : undefined);
  return region === undefined ? undefined : { region, length: 1 };
}

/**
 * The similarity of two variants in one respect: 1 if equal, 0 if contradictory, 0.5 if only one has a value, NaN if neither
 * has. A default value that only one has, such as production, does not count.
 */
export function variantSimilarity(what: keyof Variant, left: Variant, right: Variant): number {
  const [a, b] = [left[what], right[what]];
  if (a.length === 0 && b.length === 0) return Number.NaN;
  if (what === 'edition' && (isOther(left, right) || isOther(right, left))) return 0;
  if (a.length === 0 || b.length === 0) {
    const [only] = a.length > 0 ? a : b;
    return only === 'production' || only!.startsWith(WEAK) ? Number.NaN : 0.5;
  }
  if (what === 'version') return agree(a, b) ? 1 : 0;
  const plainly = (values: readonly string[]) => values.map((value) => value.replace(WEAK, ''));
  const others = plainly(b);
  return plainly(a).some((one) => others.includes(one)) ? 1 : 0;
}

/** Whether one name only says for which platform it is, and the other only which edition: `Ledger Mac`, `Ledger Deluxe`. */
const isOther = (one: Variant, other: Variant): boolean =>
  one.edition.length === 0 &&
  one.platform.length > 0 &&
  other.platform.length === 0 &&
  other.edition.length > 0;

/** Versions agree if all of one are prefixes of, or equal to, those of the other: `12` and `12.2` agree. */
function agree(a: readonly string[], b: readonly string[]): boolean {
  const [few, many] = a.length <= b.length ? [a, b] : [b, a];
  return few.every((one) =>
    many.some((other) => one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`)),
  );
}
