import { fold, memoized } from './normalise.ts';
import {
  beginsRegion,
  directionNamed,
  MOST_REGION_WORDS,
  regionNamed,
  regionOfCode,
  regionWord,
} from './regions.ts';
import vocabulary from './vocabulary.json' with { type: 'json' };
import { environmentNamed, isAmbiguousEnvironment, listed, unitOf } from './vocabulary.ts';

/** What tells one variant of a product from another, as its name says it; each in the order of the name, once. */
export interface Variant {
  /** `production`, `test`, `development` ... */
  environment: string[];
  /** `10.2`, `2016`, `3`; leading parts that are given. */
  version: string[];
  /** Countries by their code, continents and groups of countries. */
  region: string[];
}

/** Letters of a name in which its variant is looked for. */
const LONGEST_NAME = 300;

/** In front of an environment that is perhaps none. */
const WEAK = '~';
/** Words that stand beside what says the variant. */
const BESIDE = new Set(listed(vocabulary.besideVariants));

/** Without those of one letter, which may be initials. */
const ROMAN = new Map(Object.entries(vocabulary.romanNumerals));
const WORD = /[\p{L}\p{M}\p{N}]+(?:[.-][\p{L}\p{M}\p{N}]+)*['"”″]?/gu;
const MARKER =
  /^(?:v|ver|vers|version|rel|release|edition|gen|generation|mark|mk|phase|part|teil|band|volume|vol|tome|partie|parte|deel)$/;
/** Those of them that say nothing beside their number. */
const RELEASED = /^(?:v|ver|vers|version|rel|release)$/;
const MARKED = /^(?:v|r|ver|version|rel|release)(\d{1,3}(?:\.\d+)*)$/;
/** `10`, `10.2` or `12c`. */
const NUMBERED = /^\d{1,3}(?:\.\d{1,5})*[a-z]?$/;
/** `9.0.12` */
const RELEASE = /^\d{1,4}\.\d{1,5}\.\d{1,6}(?:\.\d+)*$/;
/** `Host A`; not the initial of a name, which has a point. */
const LETTERED = /\p{L}[\s-]+([A-Z])\s*$/u;
const YEAR = /^(?:19[89]|20[0-4])\d$/;

/** Takes apart what a name says of the variant; 300 letters of it are read. */
export function variantOf(name: string): Variant {
  const found: Variant = { environment: [], version: [], region: [] };
  const read = readName(name);
  const { raw, words, tail } = read;
  const add = (what: keyof Variant, value: string | undefined) => {
    if (value && !found[what].includes(value)) found[what].push(value);
  };
  for (const [at, word] of words.entries()) {
    if (words.length > 1) add('environment', environmentAt(word, at > 0 && at >= tail));
    for (const part of word.split('-').slice(1)) add('environment', environmentAt(part, false));
    if (at > 0) add('version', versionAt(words, at, at >= tail));
    add('region', regionAt(raw, words, at, at >= tail)?.region);
  }
  add('version', LETTERED.exec(name.slice(-LONGEST_NAME))?.[1]?.toLowerCase());
  return found;
}

/** Names are made of the same words again and again. */
const foldedWord = memoized(fold, 20_000);

/** A name by its words, as they are written and folded, and where those begin that say the variant alone. */
function readName(name: string) {
  const raw = name.slice(0, LONGEST_NAME).toWellFormed().match(WORD) ?? [];
  const words = raw.map(foldedWord);
  return { raw, words, tail: tailOf(raw, words) };
}

/**
 * The name with its variant in one writing: `Ledger v2.0 Deutschland (Prod)` as `Ledger 2 germany`, production going without saying. What
 * may be no variant stays as it is.
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

/** What stands for a word that is, or ends in, an environment. */
function environmentWritten(word: string, hasOthers: boolean, isInTail: boolean): string | undefined {
  const whole = hasOthers ? environmentAt(word, isInTail) : undefined;
  if (whole !== undefined) return written(whole);
  const parts = word.split('-');
  const last = parts.length > 1 ? environmentAt(parts.at(-1)!, false) : undefined;
  return last === undefined ? undefined : `${parts.slice(0, -1).join('-')} ${written(last)}`;
}

/** Production goes without saying where it can be nothing else. */
const written = (environment: string): string =>
  environment === 'production' ? '' : environment.replace(WEAK, '');

/** Where the words begin that say nothing but the variant, to the end of the name. */
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

/** Words that may also be what a thing is for count at the end alone, and there with a WEAK in front. */
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
 * How alike two variants are in one respect: 1 when they say the same, 0 when they contradict each other, 0.5 when one of them
 * alone says something, NaN when neither does. Something that only one says is nothing where it is what goes without
 * saying, as production does.
 */
export function variantSimilarity(what: keyof Variant, a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 && b.length === 0) return Number.NaN;
  if (a.length === 0 || b.length === 0) {
    const [only] = a.length > 0 ? a : b;
    return only === 'production' || only!.startsWith(WEAK) ? Number.NaN : 0.5;
  }
  if (what === 'version') return agree(a, b) ? 1 : 0;
  const plainly = (values: readonly string[]) => values.map((value) => value.replace(WEAK, ''));
  const others = plainly(b);
  return plainly(a).some((one) => others.includes(one)) ? 1 : 0;
}

/** Versions agree when all of one are among those of the other, as far as they are given: `12` and `12.2` may be one. */
function agree(a: readonly string[], b: readonly string[]): boolean {
  const [few, many] = a.length <= b.length ? [a, b] : [b, a];
  return few.every((one) =>
    many.some((other) => one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`)),
  );
}
