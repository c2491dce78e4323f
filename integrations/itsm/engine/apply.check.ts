import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import { localFields, remoteFields } from './fields.ts';
import type { Agreed, LocalCard, Path, StateChange, SyncState } from './model.types.ts';
import type { LocalState, Outcome, Plan, PlanRow, RemoteState } from './plan.types.ts';
import { canonical, same, told } from './values.ts';

/** What a write has left behind: the card or the record as its own side now holds it, where it said so. */
interface Written {
  card?: LocalCard | null;
  record?: RemoteRecord | null;
  /** Keys of a pair that the row makes. */
  cardId: string | null;
  remoteId: string | null;
  /** Paths that the written side did not take. */
  left?: ReadonlySet<Path>;
}

/**
 * What an applied row changes in the sync state. The base takes the value that the written side really holds: when it stores
 * something else than it was sent, that difference must not look like somebody's change. So an own write never comes
 * back.
 */
export function stateChanges(mapping: Mapping, row: PlanRow, written: Written): StateChange[] {
  const drops = row.drops.map((remoteId): StateChange => ({ op: 'drop', remoteId }));
  const { link } = row;
  if (link) return [{ op: row.action === 'relate' ? 'link' : 'unlink', link: baseLink(row, link) }, ...drops];
  const base = held(mapping, row, written);
  const { remoteId, cardId } = written;
  const makes = row.action === 'create' || row.action === 'link' || row.action === 'restore';
  if (makes && row.origin !== null) {
    if (remoteId === null || cardId === null) return drops;
    const state = row.state ?? ({ kind: 'linked' } as const);
    return [
      ...drops,
      { op: 'pair', pair: { remoteId, cardId, origin: row.origin, state, base, absences: 0 } },
    ];
  }
  if (remoteId === null) return drops;
  const forgotten = row.forgets.map((path) => [path, null] as const);
  const changes: StateChange[] = [];
  if (Object.keys(base).length + forgotten.length > 0) {
    changes.push({ op: 'base', remoteId, base: { ...base, ...Object.fromEntries(forgotten) } });
  }
  if (row.state) changes.push({ op: 'state', remoteId, state: row.state });
  return [...changes, ...drops];
}

/**
 * Whether a row has its side hold something else than what is agreed on with it. So it is where a conflict that was settled is
 * taken back: both sides had moved, and each has its own value again, while what they had agreed on is older than both.
 */
export function writesOtherThanAgreed({ side, diff, agreed }: PlanRow, path: Path): boolean {
  const [sent, held] = [diff[path], agreed[path]];
  return side !== null && sent !== undefined && held !== undefined && !same(canonical(sent.new), held[side]);
}

/** An aliased record's relation stands in the base under the record that speaks for the card. */
const baseLink = (row: PlanRow, link: NonNullable<PlanRow['link']>) => row.baseLink ?? link;

function held(mapping: Mapping, row: PlanRow, { card, record, left }: Written): Record<Path, Agreed> {
  const local = card ? localFields(mapping, card) : {};
  const remote = record ? remoteFields(mapping, record) : {};
  const base: Record<Path, Agreed> = {};
  for (const [path, agreed] of Object.entries(row.agreed)) {
    if (left?.has(path)) continue;
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

/** Why the inventory and the sync state are no longer as the row was made from; null when they are. */
export function localObjection(mapping: Mapping, row: PlanRow, state: LocalState): string | null {
  const { expects, before } = row;
  const { card, pair } = state;
  if (expects.pair !== undefined && expects.pair !== (pair?.state.kind ?? 'none')) {
    return `The pair is ${pair?.state.kind ?? 'no longer there'} instead of ${expects.pair}.`;
  }
  if (expects.unbound && state.other) return `The card belongs to record ${state.other.remoteId} by now.`;
  if (pair) {
    for (const [path, agreed] of Object.entries(before)) {
      const now = pair.base[path] ?? null;
      const held =
        agreed === null || now === null
          ? agreed === now
          : same(agreed.local, now.local) && same(agreed.remote, now.remote);
      if (!held) return `Both sides have agreed on '${path}' since.`;
    }
  }
  if (!expects.card) return null;
  const there = card !== null && !card.archived;
  if (there !== expects.card.there) return there ? 'The card is there by now.' : 'The card is gone by now.';
  if (!card || !there) return null;
  const now = localFields(mapping, card);
  for (const [path, value] of Object.entries(expects.card.fields)) {
    const held = now[path] ?? null;
    if (!same(held, value)) return `'${path}' is ${told(held)} here by now, instead of ${told(value)}.`;
  }
  return null;
}

/** Why the record is no longer as the row was made from; null when it is. */
export function remoteObjection(mapping: Mapping, row: PlanRow, state: RemoteState): string | null {
  const { record } = row.expects;
  if (!record || (state.kind === 'unknown' && removesAfterReadings(row))) return null;
  return objection(mapping, record, state);
}

/** Whether complete readings have proved that the record is gone: a remote whose looks prove nothing has no other proof. */
const removesAfterReadings = ({ action, state }: PlanRow): boolean =>
  action === 'delete' &&
  state?.kind === 'removed' &&
  state.gone === 'remote' &&
  state.evidence === 'readings';

/** Whether a row takes values from a record without expecting anything of it. */
export const takesFromRecord = ({ action, side, remoteId, expects }: PlanRow): boolean =>
  remoteId !== null && !expects.record && (action === 'link' || (side === 'local' && action !== 'restore'));

/** Why the record no longer holds the values that the row takes from it; null when it does. */
export function sourceObjection(mapping: Mapping, row: PlanRow, state: RemoteState): string | null {
  const fields = Object.fromEntries(Object.entries(row.agreed).map(([path, { remote }]) => [path, remote]));
  return objection(mapping, { there: true, fields }, state);
}

type Expected = NonNullable<PlanRow['expects']['record']>;

function objection(mapping: Mapping, expected: Expected, state: RemoteState): string | null {
  if (state.kind === 'unknown')
    return `The remote does not say whether the record is there: ${state.message}`;
  const there = state.kind === 'there' && !state.record.deleted;
  if (there !== expected.there) {
    return there ? 'The record is there by now.' : 'The record is gone by now.';
  }
  if (state.kind !== 'there' || !there) return null;
  const now = remoteFields(mapping, state.record);
  for (const [path, value] of Object.entries(expected.fields)) {
    const held = now[path] ?? null;
    if (!same(held, value))
      return `'${path}' is ${told(held)} at the remote by now, instead of ${told(value)}.`;
  }
  return null;
}

/** Something that is not as an applied row should have left it. */
export interface Finding {
  no: number;
  message: string;
}

/** Both sides as they are after a plan was applied: what its rows wrote, read again. */
interface Aftermath {
  outcomes: ReadonlyMap<number, Outcome>;
  syncState: SyncState;
  cards: ReadonlyMap<string, LocalCard>;
  /** By key; records that were not read again are not judged. */
  records: ReadonlyMap<string, RemoteState>;
}

/**
 * Compares what applied rows were to write with what is there now. A finding is no fault of the run by itself: somebody
 * may have changed the value since, and then the next run takes that along.
 */
export function verifyPlan(mapping: Mapping, plan: Pick<Plan, 'rows'>, after: Aftermath): Finding[] {
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

function verifyCard(mapping: Mapping, row: PlanRow, outcome: Outcome, { cards }: Aftermath): string | null {
  const card = cards.get(row.cardId ?? outcome.madeId ?? '');
  const there = card !== undefined && !card.archived;
  if (row.action === 'delete') return there ? 'The card is there.' : null;
  if (!there) return 'The card is not there.';
  return difference(row, localFields(mapping, card), ({ local }) => local);
}

function verifyRecord(mapping: Mapping, row: PlanRow, outcome: Outcome, after: Aftermath): string | null {
  const remoteId = row.remoteId ?? outcome.madeId ?? '';
  const state = after.records.get(remoteId);
  if (!state || state.kind === 'unknown') return null;
  if (row.action === 'delete') return state.kind === 'there' ? 'The record is there.' : null;
  if (state.kind === 'gone') return 'The record is not there.';
  const base = after.syncState.pairs.get(remoteId)?.base ?? {};
  // a remote may keep another form than it was sent, which is then what both sides agreed on
  return difference(
    row,
    remoteFields(mapping, state.record),
    (agreed, path) => base[path]?.remote ?? agreed.remote,
  );
}

function difference(
  row: PlanRow,
  now: Record<string, Value>,
  wanted: (agreed: PlanRow['agreed'][string], path: string) => Value,
): string | null {
  for (const [path, agreed] of Object.entries(row.agreed)) {
    const want = writesOtherThanAgreed(row, path) ? canonical(row.diff[path]!.new) : wanted(agreed, path);
    const have = now[path] ?? null;
    if (!same(want, have)) return `'${path}' is ${told(have)} instead of ${told(want)}.`;
  }
  return null;
}
