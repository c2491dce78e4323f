import { fold } from './normalise.ts';
import { regionNamed, regionOfCode } from './regions.ts';
import { unitOf } from './units.ts';

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

const ENVIRONMENTS = new Map(
  Object.entries({
    production: 'prod prd production produktion produktiv productive live',
    test: 'test tst testing testsystem testumgebung teststage',
    development: 'dev development entwicklung developpement desarrollo',
    acceptance: 'uat acceptance abnahme acc acpt recette',
    'quality assurance': 'qa qas quality-assurance q-system',
    integration: 'sit integration',
    staging: 'staging stage stg preprod pre-prod preproduction pre-production',
    training: 'trn schulungssystem training',
    sandbox: 'sandbox sbx playground',
    'disaster recovery': 'dr failover',
    demonstration: 'demo poc',
  }).flatMap(([environment, words]) => words.split(' ').map((word) => [word, environment] as const)),
);
/** Words that are environments only at the end: `Development` may also be what a thing is for. */
const PLAIN_WORDS = new Set(
  'production produktion development entwicklung developpement desarrollo live integration acceptance testing stage dr acc training demo'.split(
    ' ',
  ),
);
/** In front of an environment that is perhaps none. */
const WEAK = '~';
/** Words that stand beside what says the variant. */
const BESIDE = new Set(
  'edition system instance environment umgebung landscape region country site'.split(' '),
);

/** Without those of one letter, which may be initials. */
const ROMAN = new Map(
  Object.entries({
    ii: '2',
    iii: '3',
    iv: '4',
    vi: '6',
    vii: '7',
    viii: '8',
    ix: '9',
    xi: '11',
    xii: '12',
  }),
);
const WORD = /[\p{L}\p{M}\p{N}]+(?:[.-][\p{L}\p{M}\p{N}]+)*['"”″]?/gu;
const MARKER =
  /^(?:v|ver|vers|version|rel|release|edition|gen|generation|mark|mk|phase|part|teil|band|volume|vol|tome|partie|parte|deel)$/;
const MARKED = /^(?:v|r|ver|version|rel|release)(\d{1,3}(?:\.\d+)*)$/;
/** `10`, `10.2` or `12c`. */
const NUMBERED = /^\d{1,3}(?:\.\d{1,5})*[a-z]?$/;
/** `9.0.12` */
const RELEASE = /^\d{1,4}\.\d{1,5}\.\d{1,6}(?:\.\d+)*$/;
const YEAR = /^(?:19[89]|20[0-4])\d$/;

/** Takes apart what a name says of the variant; 300 letters of it are read. */
export function variantOf(name: string): Variant {
  const found: Variant = { environment: [], version: [], region: [] };
  const raw = name.slice(0, LONGEST_NAME).toWellFormed().match(WORD) ?? [];
  const words = raw.map((word) => fold(word));
  const tail = tailOf(raw, words);
  const add = (what: keyof Variant, value: string | undefined) => {
    if (value && !found[what].includes(value)) found[what].push(value);
  };
  for (const [at, word] of words.entries()) {
    if (words.length > 1) add('environment', environmentAt(word, at > 0 && at >= tail));
    for (const part of word.split('-').slice(1)) add('environment', environmentAt(part, false));
    if (at > 0) add('version', versionAt(words, at, at >= tail));
    add('region', regionAt(raw, words, at, at >= tail));
  }
  return found;
}

/** Where the words begin that say nothing but the variant, to the end of the name. */
function tailOf(raw: readonly string[], words: readonly string[]): number {
  const isOfVariant = (at: number) =>
    ENVIRONMENTS.has(words[at]!) ||
    NUMBERED.test(words[at]!) ||
    MARKER.test(words[at]!) ||
    ROMAN.has(words[at]!) ||
    BESIDE.has(words[at]!) ||
    regionNamed(words[at]!) !== undefined ||
    regionOfCode(raw[at]!) !== undefined;
  let tail = words.length;
  while (tail > 0 && isOfVariant(tail - 1)) tail--;
  return tail;
}

/** Words that may also be what a thing is for count at the end alone, and there with a WEAK in front. */
function environmentAt(word: string, isInTail: boolean): string | undefined {
  const environment = ENVIRONMENTS.get(word);
  if (!environment || !PLAIN_WORDS.has(word)) return environment;
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
): string | undefined {
  for (let length = Math.min(3, words.length - at); length > 0; length--) {
    const region = regionNamed(words.slice(at, at + length).join(' '));
    if (region) return region;
  }
  const mixed = raw.some((word) => /\p{Ll}/u.test(word));
  return mixed && at > 0 && isInTail ? regionOfCode(raw[at]!) : undefined;
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
