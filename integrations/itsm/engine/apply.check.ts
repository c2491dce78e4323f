import type { LocalState, RemoteState } from './apply.types.ts';
import type { Mapping } from './mapping.types.ts';
import { localFields, remoteFields } from './normalise.ts';
import type { PlanRow } from './plan.types.ts';
import { same, told } from './values.ts';

/** Why the inventory and the book are no longer as the row was made from; null when they are. */
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
