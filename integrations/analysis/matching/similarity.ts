import { fold } from '../../../platform/fold.ts';
import type { MatchValue } from './matching.types.ts';
import { lettersAndDigits } from './normalise.ts';

/** Maximum similarity of different codes. */
const NEARLY = 0.9;
/** Maximum characters of a code or choice. */
const LONGEST_VALUE = 128;

/** Normalises a code: letters and digits only. */
export const codeOf = (text: string): string => lettersAndDigits(fold(text)).slice(0, LONGEST_VALUE);

/**
 * The similarity of two codes of codeOf: 1 if equal; else Dice's coefficient of their bigrams, at most 0.9.
 */
export function codeSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < a.length; at++) {
    const pair = a.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let common = 0;
  for (let at = 0; at + 1 < b.length; at++) {
    const left = pairs.get(b.slice(at, at + 2)) ?? 0;
    if (left > 0) {
      common++;
      pairs.set(b.slice(at, at + 2), left - 1);
    }
  }
  const all = Math.max(1, a.length - 1 + b.length - 1);
  return (NEARLY * 2 * common) / all;
}

/** The parts of a version: `v10.2-rc1` has `10`, `2`, `rc`, `1`. */
export function versionOf(text: string): string[] {
  const parts =
    fold(text)
      .slice(0, LONGEST_VALUE)
      .match(/\p{N}+|\p{L}+/gu) ?? [];
  const from = parts.findIndex((part) => /\p{N}/u.test(part));
  return (from > 0 && /^(?:v|ver|version|release|r)$/.test(parts[from - 1]!) ? parts.slice(from) : parts).map(
    (part) => part.replace(/^0+(?=\p{N})/u, ''),
  );
}

/** The share of equal leading parts of two versions, relative to the longer one; a missing part equals 0. */
export function versionSimilarity(a: readonly string[], b: readonly string[]): number {
  const parts = Math.max(a.length, b.length);
  let same = 0;
  while (same < parts && (a[same] ?? '0') === (b[same] ?? '0')) same++;
  return parts === 0 ? 1 : same / parts;
}

/**
 * Parses a number: texts can have a currency or unit, and commas or blanks as thousands separators. NaN if there is none.
 */
export function numberOf(value: MatchValue): number {
  if (typeof value === 'number') return value;
  const found = /-?\d[\d ,']*(?:\.\d+)?/.exec(`${value ?? ''}`.slice(0, LONGEST_VALUE));
  return found ? Number(found[0].replace(/[ ,']/g, '')) : Number.NaN;
}

/** The similarity of two numbers: 1 if equal, 0 if one is half the other or has the other sign. */
export function numberSimilarity(a: number, b: number): number {
  if (a === b) return 1;
  const [small, large] = Math.abs(a) < Math.abs(b) ? [a, b] : [b, a];
  // divide first: doubling a huge number would overflow
  return Math.max(0, 2 * (small / large) - 1);
}

/** Dice's coefficient of two lists of distinct texts. */
export function sharedOf(a: readonly string[], b: readonly string[]): number {
  const common = a.filter((item) => b.includes(item)).length;
  return (2 * common) / (a.length + b.length);
}

/** Half-life of the similarity of dates, in days. */
const HALF_ALIKE = 90;

/** The day of an ISO date, counted from 1970; NaN if there is none. */
export function dayOf(text: string): number {
  const found = /^\s*(\d{4}-\d{2}-\d{2})/.exec(text.slice(0, LONGEST_VALUE));
  return found ? Date.parse(`${found[1]}T00:00:00Z`) / 86_400_000 : Number.NaN;
}

/** The similarity of two dates: 1 if equal, 0.5 at 90 days, 0.25 at 180. */
export const dateSimilarity = (a: number, b: number): number => 2 ** (-Math.abs(a - b) / HALF_ALIKE);
