import type { Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { RecordLookup, RemoteRecord } from '../remote.ts';
import { canonical, formatValue, isEqual, localFields, mapValues, remoteFields } from './fields.ts';
import type { Agreed, LocalCard, Path, StateChange } from './model.types.ts';
import type {
  EnginePort,
  LocalState,
  Outcome,
  PlanRow,
  Progress,
  RowResult,
  TrackedRow,
} from './plan.types.ts';
import { isChange } from './state.ts';

/** Options of applying a plan. */
export interface ApplyOptions {
  /** Whether a record may have changed since it was read, so that it is read again before its values are written here. */
  mayHaveChanged?: (remoteId: string) => boolean;
  /** Whether the values that the plan writes are older than those that it replaces: it undoes a run that is not itself an undo. */
  writesOlder?: boolean;
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

/** The result of a row that was not applied. */
export const unappliedRow = (
  row: PlanRow,
  progress: 'skipped' | 'stale' | 'refused',
  message: string,
): RowResult => ({ row, outcome: { progress, message }, changes: [] });

/** The result of a refused row. An update is refused with all of its values. */
export function refusedRow(row: PlanRow, message: string): RowResult {
  const paths = row.action === 'update' ? Object.keys(row.diff) : [];
  const unwritten = Object.fromEntries(paths.map((path) => [path, message]));
  return { row, outcome: { progress: 'refused', message, unwritten }, changes: [] };
}

/** The outcome of an applied row. @param unwritten by path, why values were not written. */
export function appliedOutcome(
  unwritten: Record<Path, string>,
  createdId: string | undefined,
  notice: string | null = null,
): Outcome {
  const reasons = Object.entries(unwritten).map(([path, why]) => `${path} (${why})`);
  return {
    progress: 'applied',
    message: reasons.length > 0 ? `Not written: ${reasons.join('; ')}` : notice,
    ...(createdId !== undefined && { createdId }),
    ...(reasons.length > 0 && { unwritten }),
  };
}

/** Stores the outcomes of rows. */
export async function finishRows(
  { port, progress }: ApplyContext,
  endings: readonly RowResult[],
): Promise<void> {
  if (endings.length > 0) await port.finish(endings);
  for (const { row, outcome } of endings) progress.set(row.no, outcome.progress);
}

/** Whether a row refers to objects that the same plan creates or links. */
export const hasOpenReferences = ({ side, refers, link, cards }: PlanRow): boolean =>
  Object.keys(refers).length > 0 || (side === 'local' && link !== null && cards === null);

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
  const locals = referring.filter(({ side }) => side === 'local');
  const remotes = referring.filter(({ side }) => side === 'remote');
  const ids = await applying.port.resolveIds(
    locals.flatMap(({ remoteId, refers, link }) =>
      [remoteId, link?.source, link?.target, ...Object.values(refers)].flatMap((id) => id ?? []),
    ),
    remotes.flatMap(({ cardId, refers }) => [cardId, ...Object.values(refers)].flatMap((id) => id ?? [])),
  );
  const unresolved: RowResult[] = [];
  const ready = rows.flatMap((one): TrackedRow[] => {
    if (!hasOpenReferences(one.row)) return [one];
    const row = resolveRow(one.row, ids);
    if (row) return [{ ...one, row }];
    unresolved.push(unappliedRow(one.row, 'stale', 'An object that it refers to was not created.'));
    return [];
  });
  await finishRows(applying, unresolved);
  return ready;
}

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
    if (side !== 'local') return { ...row, link };
    const [source, target] = [ids.cardOf(link.source), ids.cardOf(link.target)];
    if (source === undefined || target === undefined) return undefined;
    return { ...row, cards: { relationType: link.relationType, source, target } };
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
  /** Whether its rows refer to objects of the same plan. */
  hasReferences: boolean;
  /** The cards, records and numbers of the remote rows. */
  touched: Set<string | number>;
}

/**
 * Groups rows into windows. A local row is never applied before an earlier remote row of the same card or record, or one that
 * it needs. Rows that refer to objects of the same plan have windows of their own.
 */
export function* groupIntoWindows(rows: readonly TrackedRow[]): Generator<Window> {
  let window: Window | undefined;
  for (const one of rows) {
    const { row } = one;
    const hasReferences = hasOpenReferences(row);
    const isRemote = isChange(row) && row.side === 'remote';
    const keys = [...touchedKeys(row), row.needs].filter((key) => key !== null);
    const conflicts = isChange(row) && !isRemote && keys.some((key) => window?.touched.has(key));
    if (window && (conflicts || window.hasReferences !== hasReferences)) {
      yield window;
      window = undefined;
    }
    window ??= { locals: [], remotes: [], hasReferences, touched: new Set() };
    (isRemote ? window.remotes : window.locals).push(one);
    if (isRemote) for (const key of [...touchedKeys(row), row.no]) window.touched.add(key);
  }
  if (window) yield window;
}

/** The ids of all cards and records of a row. */
export const touchedKeys = ({ remoteId, cardId, drops, link, cards }: PlanRow): string[] =>
  [remoteId, cardId, ...drops, link?.source, link?.target, cards?.source, cards?.target].filter(
    (key) => typeof key === 'string',
  );

/** The result of a write: the card or the record after it, if known. */
interface WriteEffect {
  card?: LocalCard | null;
  record?: RemoteRecord | null;
  /** The ids of the row's pair. */
  cardId: string | null;
  remoteId: string | null;
  /** Paths that were not written. */
  unwritten?: ReadonlySet<Path>;
}

/**
 * The changes of the sync state by an applied row. The base gets the value that the written side has stored, which can differ from
 * the value sent; otherwise the next run would read the engine's own write as a change.
 */
export function stateChanges(mapping: Mapping, row: PlanRow, written: WriteEffect): StateChange[] {
  const drops = row.drops.map((remoteId): StateChange => ({ op: 'drop', remoteId }));
  const { link } = row;
  if (link) return [{ op: row.action === 'relate' ? 'link' : 'unlink', link: baseLink(row, link) }, ...drops];
  const base = agreedAfterWrite(mapping, row, written);
  const { remoteId, cardId } = written;
  const createsPair = row.action === 'create' || row.action === 'link' || row.action === 'restore';
  if (createsPair && row.origin !== null) {
    if (remoteId === null || cardId === null) return drops;
    const state = row.state ?? ({ kind: 'linked' } as const);
    const pair = { remoteId, cardId, origin: row.origin, state, base, absences: 0 };
    return [...drops, { op: 'pair', pair }];
  }
  if (remoteId === null) return drops;
  const deleted = row.forgets.map((path) => [path, null] as const);
  const changes: StateChange[] = [];
  if (Object.keys(base).length + deleted.length > 0) {
    changes.push({ op: 'base', remoteId, base: { ...base, ...Object.fromEntries(deleted) } });
  }
  if (row.state) changes.push({ op: 'state', remoteId, state: row.state });
  return [...changes, ...drops];
}

/**
 * Whether a row writes another value than it sets as the base. This is so if a resolved conflict is undone: both sides had
 * changed, so the row restores the value of its side, while the former base differs from both values. A field that a record
 * had no value of, which an undo creates again, is written empty.
 */
export function writesAnotherValue({ side, diff, agreed, restored }: PlanRow, path: Path): boolean {
  const written = diff[path] ?? (restored ? { new: null } : undefined);
  const base = agreed[path];
  return (
    side !== null &&
    written !== undefined &&
    base !== undefined &&
    !isEqual(canonical(written.new), base[side])
  );
}

/** The base contains the relation of an alias record under the record of the primary pair. */
const baseLink = (row: PlanRow, link: NonNullable<PlanRow['link']>) => row.baseLink ?? link;

function agreedAfterWrite(
  mapping: Mapping,
  row: PlanRow,
  { card, record, unwritten }: WriteEffect,
): Record<Path, Agreed> {
  const local = card ? localFields(mapping, card) : {};
  const remote = record ? remoteFields(mapping, record) : {};
  const base: Record<Path, Agreed> = {};
  for (const [path, agreed] of Object.entries(row.agreed)) {
    if (unwritten?.has(path)) continue;
    if (writesAnotherValue(row, path)) {
      base[path] = agreed;
      continue;
    }
    base[path] = {
      local: row.side === 'local' && card ? (local[path] ?? null) : agreed.local,
      remote: row.side === 'remote' && record ? (remote[path] ?? null) : agreed.remote,
    };
  }
  return base;
}

/** How the inventory or the sync state has changed since the row was planned; null if it has not. */
export function localStaleReason(mapping: Mapping, row: PlanRow, state: LocalState): string | null {
  const { expects, before } = row;
  const { card, pair } = state;
  if (expects.pair !== undefined && expects.pair !== (pair?.state.kind ?? 'none')) {
    return `The pair is ${pair?.state.kind ?? 'no longer there'} instead of ${expects.pair}.`;
  }
  if (expects.unbound && state.other) return `The card belongs to record ${state.other.remoteId} now.`;
  if (pair) {
    for (const [path, agreed] of Object.entries(before)) {
      const now = pair.base[path] ?? null;
      const isUnchanged =
        agreed === null || now === null
          ? agreed === now
          : isEqual(agreed.local, now.local) && isEqual(agreed.remote, now.remote);
      if (!isUnchanged) return `The base of '${path}' has changed since.`;
    }
  }
  if (!expects.card) return null;
  const there = card !== null && !card.archived;
  if (there !== expects.card.there) return there ? 'The card exists now.' : 'The card is gone now.';
  if (!there) return null;
  return describeDifference(expects.card.fields, localFields(mapping, card), 'here now, ');
}

/** Describes the first value that differs from the expected one; null if there is none. */
export function describeDifference(
  expected: Record<Path, Value>,
  now: Record<Path, Value>,
  where = '',
): string | null {
  for (const [path, value] of Object.entries(expected)) {
    const current = now[path] ?? null;
    if (!isEqual(current, value))
      return `'${path}' is ${formatValue(current)} ${where}instead of ${formatValue(value)}.`;
  }
  return null;
}

/** How the record has changed since the row was planned; null if it has not. */
export function remoteStaleReason(mapping: Mapping, row: PlanRow, state: RecordLookup): string | null {
  const { record } = row.expects;
  if (!record) return null;
  if (state.kind === 'unknown' && (row.action === 'restore' || isProved(row, state))) return null;
  return recordStaleReason(mapping, record, state);
}

/**
 * Whether full reads have proved that the record is gone, or the remote has reported its deletion and does not list it. A remote with
 * inconclusive lookups cannot prove it otherwise.
 */
const isProved = ({ action, state }: PlanRow, lookup: RecordLookup & { kind: 'unknown' }): boolean =>
  action === 'delete' &&
  state?.kind === 'removed' &&
  state.gone === 'remote' &&
  (state.evidence === 'readings' || (state.evidence === 'tombstone' && lookup.isMissing === true));

/** Whether a row copies values from a record without expecting a state of it. */
export const copiesFromRecord = ({ action, side, remoteId, expects }: PlanRow): boolean =>
  remoteId !== null && !expects.record && (action === 'link' || (side === 'local' && action !== 'restore'));

/** How the values that the row copies from the record have changed; null if they have not. */
export function sourceStaleReason(mapping: Mapping, row: PlanRow, state: RecordLookup): string | null {
  const fields = mapValues(row.agreed, ({ remote }) => remote);
  return recordStaleReason(mapping, { there: true, fields }, state);
}

type Expected = NonNullable<PlanRow['expects']['record']>;

function recordStaleReason(mapping: Mapping, expected: Expected, state: RecordLookup): string | null {
  if (state.kind === 'unknown')
    return 'The remote does not report whether the record exists: it is hidden from the account';
  const there = state.kind === 'there' && !state.record.deleted;
  if (there !== expected.there) return there ? 'The record exists now.' : 'The record is gone now.';
  if (state.kind !== 'there' || !there) return null;
  return describeDifference(expected.fields, remoteFields(mapping, state.record), 'at the remote now, ');
}
