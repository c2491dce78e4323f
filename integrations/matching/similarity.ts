import type { MatchValue } from './matching.types.ts';
import { fold, squeeze } from './normalise.ts';

/** Most that two codes that differ can be alike. */
const NEARLY = 0.9;
/** Letters of a code or choice that are compared. */
const LONGEST_VALUE = 128;

/** A code as it is compared: letters and digits alone. */
export const codeOf = (text: string): string => squeeze(fold(text)).slice(0, LONGEST_VALUE);

/**
 * How alike two codes of codeOf are: 1 when they are equal; else at most 0.9, by the share of neighbouring pairs of letters
 * that they have in common (Dice's coefficient).
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

/** How many leading parts two versions share, of those of the longer one; a missing part counts as 0 is written. */
export function versionSimilarity(a: readonly string[], b: readonly string[]): number {
  const parts = Math.max(a.length, b.length);
  let same = 0;
  while (same < parts && (a[same] ?? '0') === (b[same] ?? '0')) same++;
  return parts === 0 ? 1 : same / parts;
}

/**
 * A number from a value: texts may hold a currency or unit around it and commas or blanks between thousands. NaN if there is
 * none.
 */
export function numberOf(value: MatchValue): number {
  if (typeof value === 'number') return value;
  const found = /-?\d[\d ,']*(?:\.\d+)?/.exec(`${value ?? ''}`.slice(0, LONGEST_VALUE));
  return found ? Number(found[0].replace(/[ ,']/g, '')) : Number.NaN;
}

/** How alike two numbers are: 1 when they are equal, 0 when one is half as large as the other, or of the other sign. */
export function numberSimilarity(a: number, b: number): number {
  if (a === b) return 1;
  const [small, large] = Math.abs(a) < Math.abs(b) ? [a, b] : [b, a];
  // the quotient first: twice a huge number is infinite
  return Math.max(0, 2 * (small / large) - 1);
}

/** What two lists of different texts have in common, of what both hold on average (Dice's coefficient). */
export function sharedOf(a: readonly string[], b: readonly string[]): number {
  const common = a.filter((item) => b.includes(item)).length;
  return (2 * common) / (a.length + b.length);
}

/** Days in which two dates lose half of their likeness. */
const HALF_ALIKE = 90;

/** The day of an ISO date, counted from 1970; NaN if there is none. */
export function dayOf(text: string): number {
  const found = /^\s*(\d{4}-\d{2}-\d{2})/.exec(text.slice(0, LONGEST_VALUE));
  return found ? Date.parse(`${found[1]}T00:00:00Z`) / 86_400_000 : Number.NaN;
}

/** How alike two days are: 1 for the same, a half 90 days apart, a quarter 180. */
export const dateSimilarity = (a: number, b: number): number => 2 ** (-Math.abs(a - b) / HALF_ALIKE);
