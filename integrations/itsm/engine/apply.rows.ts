import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Path } from './model.types.ts';
import { isChange } from './plan.ts';
import type { EnginePort, Outcome, PlanRow, Progress, RowResult, TrackedRow } from './plan.types.ts';

/** Options of applying a plan. */
export interface ApplyOptions {
  /** Apply only approved rows; otherwise all that are not rejected. */
  approvedOnly?: boolean;
  /** Apply a plan that exceeds the deletion limit: a user has confirmed its removals. */
  ignoreLimit?: boolean;
  /** Whether a record may have changed since it was read, so that it is read again before its values are written here. */
  mayHaveChanged?: (remoteId: string) => boolean;
  /** The number of remote rows that are checked and sent as one batch. */
  remoteBatch?: number;
  /** The number of concurrent writes of a batch. The connection limits their rate. */
  concurrency?: number;
}

/** The state of applying a plan. */
export interface ApplyContext {
  mapping: Mapping;
  planId: string;
  port: EnginePort;
  options: ApplyOptions;
  /** By row number. */
  progress: Map<number, Progress>;
}

/** Says that the row which a row needs was not applied; null if it was, or if there is none. */
export function findMissingDependency(
  row: PlanRow,
  ...ended: ReadonlyMap<number, Progress>[]
): string | null {
  if (row.needs === null || ended.some((known) => known.get(row.needs!) === 'applied')) return null;
  return `Row ${row.needs}, which this row needs, was not applied.`;
}

/** The outcome of a row that was not applied. */
export const unappliedOutcome = (progress: Outcome['progress'], message: string): Outcome => ({
  progress,
  message,
});

/** Lists the values of a row that were not written. */
export const describeUnwritten = (unwritten: Record<Path, string>): string =>
  `Not written: ${Object.entries(unwritten)
    .map(([path, why]) => `${path} (${why})`)
    .join('; ')}`;

/** The values of an update that was refused as a whole. */
export const allUnwritten = ({ action, diff }: PlanRow, why: string): Record<Path, string> =>
  action === 'update' ? Object.fromEntries(Object.keys(diff).map((path) => [path, why])) : {};

/** Whether a row refers to objects that the same plan creates or links. */
export const hasOpenReferences = ({ refers }: PlanRow): boolean => Object.keys(refers).length > 0;

/**
 * Resolves the references of rows to objects of the same plan. A row whose referenced object was not created ends as `stale`;
 * rows without such references are returned unchanged.
 */
export async function resolveReferences(
  applying: ApplyContext,
  rows: readonly TrackedRow[],
): Promise<TrackedRow[]> {
  const referring = rows.filter(({ row }) => hasOpenReferences(row)).map(({ row }) => row);
  if (referring.length === 0) return [...rows];
  const { port, progress } = applying;
  const locals = referring.filter(({ side }) => side === 'local');
  const remotes = referring.filter(({ side }) => side === 'remote');
  const ids = await port.resolveIds(
    locals.flatMap(({ remoteId, refers }) => [...idsIn(remoteId), ...Object.values(refers)]),
    remotes.flatMap(({ cardId, refers }) => [...idsIn(cardId), ...Object.values(refers)]),
  );
  const unresolved: RowResult[] = [];
  const ready = rows.flatMap((one): TrackedRow[] => {
    if (!hasOpenReferences(one.row)) return [one];
    const row = resolveRow(one.row, ids);
    if (row) return [{ ...one, row }];
    const outcome = unappliedOutcome('stale', 'An object that it refers to was not created.');
    unresolved.push({ row: one.row, outcome, changes: [] });
    return [];
  });
  if (unresolved.length > 0) await port.finish(unresolved);
  for (const { row, outcome } of unresolved) progress.set(row.no, outcome.progress);
  return ready;
}

const idsIn = (id: string | null): string[] => (id === null ? [] : [id]);

type ResolvedIds = Awaited<ReturnType<ApplyContext['port']['resolveIds']>>;

function resolveRow(row: PlanRow, ids: ResolvedIds): PlanRow | undefined {
  const { side } = row;
  if (row.link) {
    const link = { ...row.link };
    for (const [end, cardId] of Object.entries(row.refers)) {
      const record = ids.recordOf(cardId);
      if (record === undefined) return undefined;
      link[end as 'source' | 'target'] = record;
    }
    return { ...row, link };
  }
  const remoteId = row.remoteId ?? ids.recordOf(row.cardId ?? '');
  const cardId = row.cardId ?? ids.cardOf(row.remoteId ?? '');
  if (remoteId === undefined || cardId === undefined || side === null) return undefined;
  const diff = { ...row.diff };
  const agreed = { ...row.agreed };
  for (const [path, awaited] of Object.entries(row.refers)) {
    const value: Value | undefined = side === 'local' ? ids.cardOf(awaited) : ids.recordOf(awaited);
    if (value === undefined) return undefined;
    diff[path] = { ...diff[path]!, new: value };
    agreed[path] = { ...agreed[path]!, [side]: value };
  }
  return { ...row, remoteId, cardId, diff, agreed };
}

/** Rows that are applied together: first those that write here, then those that write to the remote. */
interface Window {
  locals: TrackedRow[];
  remotes: TrackedRow[];
}

/**
 * Groups rows into windows. A local row is never applied before an earlier remote row of the same card or record, or one that
 * it needs. Rows that refer to objects of the same plan have windows of their own.
 */
export function* groupIntoWindows(rows: readonly TrackedRow[]): Generator<Window> {
  let window: Window = { locals: [], remotes: [] };
  let touched = new Set<string | number>();
  let hasReferences = false;
  for (const one of rows) {
    const { row } = one;
    if (hasOpenReferences(row) !== hasReferences && window.locals.length + window.remotes.length > 0) {
      yield window;
      window = { locals: [], remotes: [] };
      touched = new Set();
    }
    hasReferences = hasOpenReferences(row);
    if (isChange(row) && row.side === 'remote') {
      window.remotes.push(one);
      for (const key of touchedKeys(one)) touched.add(key);
      touched.add(row.no);
      continue;
    }
    const conflicts =
      isChange(row) &&
      (touchedKeys(one).some((key) => touched.has(key)) || (row.needs !== null && touched.has(row.needs)));
    if (conflicts) {
      yield window;
      window = { locals: [], remotes: [] };
      touched = new Set();
    }
    window.locals.push(one);
  }
  if (window.locals.length + window.remotes.length > 0) yield window;
}

/** The ids of all cards and records of a row. */
export const touchedKeys = ({ row }: Pick<TrackedRow, 'row'>): string[] =>
  [
    row.remoteId,
    row.cardId,
    ...row.drops,
    row.link?.source,
    row.link?.target,
    row.cards?.source,
    row.cards?.target,
  ].filter((key) => typeof key === 'string');

/** Splits rows into batches of at most `size` independent rows: no two have the same card or record, or need each other. */
export function* splitIndependent(rows: readonly TrackedRow[], size: number): Generator<TrackedRow[]> {
  let part: TrackedRow[] = [];
  let touched = new Set<string>();
  let numbers = new Set<number>();
  for (const one of rows) {
    const { row } = one;
    const keys = pairKeys(one);
    const conflicts = keys.some((key) => touched.has(key)) || (row.needs !== null && numbers.has(row.needs));
    if (part.length === size || conflicts) {
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

/** The record and the card of a row's pair. */
const pairKeys = ({ row }: Pick<TrackedRow, 'row'>): string[] =>
  [row.remoteId, row.cardId].filter((key) => key !== null);
