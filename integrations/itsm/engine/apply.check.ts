import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import { localFields, remoteFields } from './fields.ts';
import type { Agreed, LocalCard, Path, StateChange, SyncState } from './model.types.ts';
import type { LocalState, Outcome, Plan, PlanRow, RemoteState } from './plan.types.ts';
import { canonical, formatValue, isEqual } from './values.ts';

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
    return [
      ...drops,
      { op: 'pair', pair: { remoteId, cardId, origin: row.origin, state, base, absences: 0 } },
    ];
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
 * changed, so the row restores the value of its side, while the former base differs from both values.
 */
export function writesOtherThanAgreed({ side, diff, agreed }: PlanRow, path: Path): boolean {
  const [written, base] = [diff[path], agreed[path]];
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
    if (writesOtherThanAgreed(row, path)) {
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
  if (!card || !there) return null;
  const now = localFields(mapping, card);
  for (const [path, value] of Object.entries(expects.card.fields)) {
    const current = now[path] ?? null;
    if (!isEqual(current, value))
      return `'${path}' is ${formatValue(current)} here now, instead of ${formatValue(value)}.`;
  }
  return null;
}

/** How the record has changed since the row was planned; null if it has not. */
export function remoteStaleReason(mapping: Mapping, row: PlanRow, state: RemoteState): string | null {
  const { record } = row.expects;
  if (!record || (state.kind === 'unknown' && isProvedByFullReads(row))) return null;
  return recordStaleReason(mapping, record, state);
}

/** Whether full reads have proved that the record is gone, which a remote with inconclusive lookups cannot prove otherwise. */
const isProvedByFullReads = ({ action, state }: PlanRow): boolean =>
  action === 'delete' &&
  state?.kind === 'removed' &&
  state.gone === 'remote' &&
  state.evidence === 'readings';

/** Whether a row copies values from a record without expecting a state of it. */
export const copiesFromRecord = ({ action, side, remoteId, expects }: PlanRow): boolean =>
  remoteId !== null && !expects.record && (action === 'link' || (side === 'local' && action !== 'restore'));

/** How the values that the row copies from the record have changed; null if they have not. */
export function sourceStaleReason(mapping: Mapping, row: PlanRow, state: RemoteState): string | null {
  const fields = Object.fromEntries(Object.entries(row.agreed).map(([path, { remote }]) => [path, remote]));
  return recordStaleReason(mapping, { there: true, fields }, state);
}

type Expected = NonNullable<PlanRow['expects']['record']>;

function recordStaleReason(mapping: Mapping, expected: Expected, state: RemoteState): string | null {
  if (state.kind === 'unknown')
    return `The remote does not report whether the record exists: ${state.message}`;
  const there = state.kind === 'there' && !state.record.deleted;
  if (there !== expected.there) {
    return there ? 'The record exists now.' : 'The record is gone now.';
  }
  if (state.kind !== 'there' || !there) return null;
  const now = remoteFields(mapping, state.record);
  for (const [path, value] of Object.entries(expected.fields)) {
    const current = now[path] ?? null;
    if (!isEqual(current, value))
      return `'${path}' is ${formatValue(current)} at the remote now, instead of ${formatValue(value)}.`;
  }
  return null;
}

/** A state that differs from what an applied row has written. */
export interface Finding {
  no: number;
  message: string;
}

/** Both sides after a plan was applied. */
interface VerifiedState {
  outcomes: ReadonlyMap<number, Outcome>;
  syncState: SyncState;
  cards: ReadonlyMap<string, LocalCard>;
  /** By remote id; rows of other records are not verified. */
  records: ReadonlyMap<string, RemoteState>;
}

/**
 * Compares the present state with what applied rows have written. A finding is not necessarily an error of the run: a user may
 * have changed the value since, which the next run synchronises.
 */
export function verifyPlan(mapping: Mapping, plan: Pick<Plan, 'rows'>, after: VerifiedState): Finding[] {
  return plan.rows.flatMap((row) => {
    const outcome = after.outcomes.get(row.no);
    if (outcome?.progress !== 'applied' || row.side === null || row.link) return [];
    const message =
      row.side === 'local'
        ? verifyCard(mapping, row, outcome, after)
        : verifyRecord(mapping, row, outcome, after);
    return message === null ? [] : [{ no: row.no, message }];
  });
}

function verifyCard(
  mapping: Mapping,
  row: PlanRow,
  outcome: Outcome,
  { cards }: VerifiedState,
): string | null {
  const card = cards.get(row.cardId ?? outcome.createdId ?? '');
  const there = card !== undefined && !card.archived;
  if (row.action === 'delete') return there ? 'The card still exists.' : null;
  if (!there) return 'The card does not exist.';
  return findDifference(row, localFields(mapping, card), ({ local }) => local);
}

function verifyRecord(mapping: Mapping, row: PlanRow, outcome: Outcome, after: VerifiedState): string | null {
  const remoteId = row.remoteId ?? outcome.createdId ?? '';
  const state = after.records.get(remoteId);
  if (!state || state.kind === 'unknown') return null;
  if (row.action === 'delete') return state.kind === 'there' ? 'The record still exists.' : null;
  if (state.kind === 'gone') return 'The record does not exist.';
  const base = after.syncState.pairs.get(remoteId)?.base ?? {};
  // if the remote has stored another form than it was sent, the base contains that form
  return findDifference(
    row,
    remoteFields(mapping, state.record),
    (agreed, path) => base[path]?.remote ?? agreed.remote,
  );
}

function findDifference(
  row: PlanRow,
  now: Record<string, Value>,
  expectedOf: (agreed: PlanRow['agreed'][string], path: string) => Value,
): string | null {
  for (const [path, agreed] of Object.entries(row.agreed)) {
    const expected = writesOtherThanAgreed(row, path)
      ? canonical(row.diff[path]!.new)
      : expectedOf(agreed, path);
    const current = now[path] ?? null;
    if (!isEqual(expected, current))
      return `'${path}' is ${formatValue(current)} instead of ${formatValue(expected)}.`;
  }
  return null;
}
