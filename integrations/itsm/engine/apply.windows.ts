import { isLate } from './apply.late.ts';
import type { Standing } from './apply.types.ts';
import { acts } from './plan.types.ts';

/** Rows that are applied together: first all that write here, then all that write at the remote. */
export interface Window {
  locals: Standing[];
  remotes: Standing[];
}

/**
 * Puts rows together though they take turns in writing here and outside. A row that writes here never overtakes one
 * before it that writes outside about the same card or record, or that it builds on. Rows that lead to what others make have
 * windows of their own.
 */
export function* inWindows(rows: readonly Standing[]): Generator<Window> {
  let window: Window = { locals: [], remotes: [] };
  let touched = new Set<string | number>();
  let late = false;
  for (const one of rows) {
    const { row } = one;
    if (isLate(row) !== late && window.locals.length + window.remotes.length > 0) {
      yield window;
      window = { locals: [], remotes: [] };
      touched = new Set();
    }
    late = isLate(row);
    if (acts(row) && row.side === 'remote') {
      window.remotes.push(one);
      for (const key of keysOf(one)) touched.add(key);
      touched.add(row.no);
      continue;
    }
    const overtakes =
      acts(row) &&
      (keysOf(one).some((key) => touched.has(key)) || (row.needs !== null && touched.has(row.needs)));
    if (overtakes) {
      yield window;
      window = { locals: [], remotes: [] };
      touched = new Set();
    }
    window.locals.push(one);
  }
  if (window.locals.length + window.remotes.length > 0) yield window;
}

/** What a row is about: records and cards never have the same key. */
export const keysOf = ({ row }: Pick<Standing, 'row'>): string[] =>
  [
    row.remoteId,
    row.cardId,
    ...row.drops,
    row.link?.source,
    row.link?.target,
    row.cards?.source,
    row.cards?.target,
  ].filter((key) => typeof key === 'string');

/** Parts of at most `size` rows in which no two are about the same, or build on each other. */
export function* inParts(rows: readonly Standing[], size: number): Generator<Standing[]> {
  let part: Standing[] = [];
  let touched = new Set<string>();
  let numbers = new Set<number>();
  for (const one of rows) {
    const { row } = one;
    const keys = sidesOf(one);
    const meets = keys.some((key) => touched.has(key)) || (row.needs !== null && numbers.has(row.needs));
    if (part.length === size || meets) {
      yield part;
      part = [];
      touched = new Set();
      numbers = new Set();
    }
    part.push(one);
    for (const key of keys) touched.add(key);
    numbers.add(row.no);
  }
  if (part.length > 0) yield part;
}

/** The record and the card that a row writes to, or writes because of. */
const sidesOf = ({ row }: Pick<Standing, 'row'>): string[] =>
  [row.remoteId, row.cardId].filter((key) => key !== null);

/** Whether rows of a part are about the same as rows of one before it, or build on them. */
export function meet(part: readonly Standing[], before: readonly Standing[]): boolean {
  const touched = new Set(before.flatMap(sidesOf));
  const numbers = new Set(before.map(({ row }) => row.no));
  return part.some(
    (one) =>
      sidesOf(one).some((key) => touched.has(key)) || (one.row.needs !== null && numbers.has(one.row.needs)),
  );
}
