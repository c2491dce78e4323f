import { plainNameWords } from './names.ts';

/** What joins the names of partners: `Moreau & Petrov`, `Research and Development`. */
const JOINT = /\s(?:&|\+|and|und|et|y|e|en)\s/i;

/** The parts of a name that are joined as equals, normalised; none for other names. */
export function joinedParts(name: string): string[] {
  const parts = name.split(JOINT);
  return parts.length < 2 ? [] : parts.map((part) => plainNameWords(part).join(' '));
}

/** 0.5 if two names have the same parts in another order, which can be another firm; otherwise NaN: it says nothing. */
export function orderSimilarity(a: readonly string[], b: readonly string[]): number {
  const isSame = a.length === b.length && a.every((part) => b.includes(part));
  return isSame && a.some((part, at) => part !== b[at]) ? 0.5 : Number.NaN;
}
