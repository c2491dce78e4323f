import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Path } from './model.types.ts';
import { acts } from './plan.ts';
import type { EnginePort, Outcome, PlanRow, Progress, RowResult, TrackedRow } from './plan.types.ts';

/** What is to be applied, and how much of it at once. */
export interface ApplyOptions {
  /** Rows on which nobody has decided are left for later; else only the rejected ones are left out. */
  approvedOnly?: boolean;
  /** Apply a plan that exceeds the deletion limit: a user has confirmed its removals. */
  ignoreLimit?: boolean;
  /** Whether a record may have changed since it was read: it is looked at before its values are written here. */
  mayHaveChanged?: (remoteId: string) => boolean;
  /** Rows at the remote that are checked by one reading. */
  remoteBatch?: number;
  /** Writes of a part under way at the remote at once; how fast they go is the connection's affair. */
  atOnce?: number;
}

/** A plan that is being applied. */
export interface Applying {
  mapping: Mapping;
  planId: string;
  port: EnginePort;
  options: ApplyOptions;
  /** How rows stand so far, by their number. */
  ended: Map<number, Progress>;
}

/** The row that another one builds on was not applied; null when it was, or there is none. */
export function needsObjection(row: PlanRow, ...ended: ReadonlyMap<number, Progress>[]): string | null {
  if (row.needs === null || ended.some((known) => known.get(row.needs!) === 'applied')) return null;
  return `Row ${row.needs}, which this one builds on, was not applied.`;
}

/** An outcome that changes nothing anywhere. */
export const without = (progress: Outcome['progress'], message: string): Outcome => ({ progress, message });

/** Which values of a row were not taken, in words. */
export const leftOut = (left: Record<Path, string>): string =>
  `Left out: ${Object.entries(left)
    .map(([path, why]) => `${path} (${why})`)
    .join('; ')}`;

/** All values of a row that was refused as a whole. */
export const allLeft = ({ action, diff }: PlanRow, why: string): Record<Path, string> =>
  action === 'update' ? Object.fromEntries(Object.keys(diff).map((path) => [path, why])) : {};

/** Whether a row leads to what the same plan makes. */
export const hasOpenReferences = ({ refers }: PlanRow): boolean => Object.keys(refers).length > 0;

/**
 * Tells such rows what they lead to, and what they are about, as far as the rows before them have made it; rows of which
 * that is known all along are given back as they are. What was not made ends the row as `stale`.
 */
export async function resolveReferences(
  applying: Applying,
  rows: readonly TrackedRow[],
): Promise<TrackedRow[]> {
  const late = rows.filter(({ row }) => hasOpenReferences(row)).map(({ row }) => row);
  if (late.length === 0) return [...rows];
  const { port, ended } = applying;
  const here = late.filter(({ side }) => side === 'local');
  const outside = late.filter(({ side }) => side === 'remote');
  const who = await port.whoIs(
    here.flatMap(({ remoteId, refers }) => [...present(remoteId), ...Object.values(refers)]),
    outside.flatMap(({ cardId, refers }) => [...present(cardId), ...Object.values(refers)]),
  );
  const lost: RowResult[] = [];
  const ready = rows.flatMap((one): TrackedRow[] => {
    if (!hasOpenReferences(one.row)) return [one];
    const row = resolved(one.row, who);
    if (row) return [{ ...one, row }];
    const outcome = without('stale', 'What it leads to, or is about, was not made.');
    lost.push({ row: one.row, outcome, changes: [] });
    return [];
  });
  if (lost.length > 0) await port.finish(lost);
  for (const { row, outcome } of lost) ended.set(row.no, outcome.progress);
  return ready;
}

const present = (id: string | null): string[] => (id === null ? [] : [id]);

type Who = Awaited<ReturnType<Applying['port']['whoIs']>>;

function resolved(row: PlanRow, who: Who): PlanRow | undefined {
  const { side } = row;
  if (row.link) {
    const link = { ...row.link };
    for (const [end, cardId] of Object.entries(row.refers)) {
      const record = who.recordOf(cardId);
      if (record === undefined) return undefined;
      link[end as 'source' | 'target'] = record;
    }
    return { ...row, link };
  }
  const remoteId = row.remoteId ?? who.recordOf(row.cardId ?? '');
  const cardId = row.cardId ?? who.cardOf(row.remoteId ?? '');
  if (remoteId === undefined || cardId === undefined || side === null) return undefined;
  const diff = { ...row.diff };
  const agreed = { ...row.agreed };
  for (const [path, awaited] of Object.entries(row.refers)) {
    const value: Value | undefined = side === 'local' ? who.cardOf(awaited) : who.recordOf(awaited);
    if (value === undefined) return undefined;
    diff[path] = { ...diff[path]!, new: value };
    agreed[path] = { ...agreed[path]!, [side]: value };
  }
  return { ...row, remoteId, cardId, diff, agreed };
}

/** Rows that are applied together: first all that write here, then all that write at the remote. */
interface Window {
  locals: TrackedRow[];
  remotes: TrackedRow[];
}

/**
 * Puts rows together though they take turns in writing here and outside. A row that writes here never overtakes one
 * before it that writes outside about the same card or record, or that it builds on. Rows that lead to what others make have
 * windows of their own.
 */
export function* inWindows(rows: readonly TrackedRow[]): Generator<Window> {
  let window: Window = { locals: [], remotes: [] };
  let touched = new Set<string | number>();
  let late = false;
  for (const one of rows) {
    const { row } = one;
    if (hasOpenReferences(row) !== late && window.locals.length + window.remotes.length > 0) {
      yield window;
      window = { locals: [], remotes: [] };
      touched = new Set();
    }
    late = hasOpenReferences(row);
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
export const keysOf = ({ row }: Pick<TrackedRow, 'row'>): string[] =>
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
export function* inParts(rows: readonly TrackedRow[], size: number): Generator<TrackedRow[]> {
  let part: TrackedRow[] = [];
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
const sidesOf = ({ row }: Pick<TrackedRow, 'row'>): string[] =>
  [row.remoteId, row.cardId].filter((key) => key !== null);
