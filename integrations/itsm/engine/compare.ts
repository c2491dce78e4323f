import type { Agreed } from './book.types.ts';
import type { FieldOutcome } from './compare.types.ts';
import { type Surroundings, type Told, toLocal, toRemote } from './mapping.transforms.ts';
import type { FieldMapping, Side, SyncDirection } from './mapping.types.ts';
import { same, told, type Value } from './values.ts';

/** One field of a pair, with all that decides about it. */
export interface FieldState {
  field: FieldMapping;
  /** What was last agreed on; undefined when the two have never been compared. */
  base: Agreed | undefined;
  /** As each side holds it, in canonical form. */
  local: Value;
  remote: Value;
  /** When each side last changed it, in milliseconds by one clock; null when that is not known. */
  changedAt: { local: number | null; remote: number | null };
  /** The side whose value an undo has written back: the time of its change is not that of the value. */
  putBack?: Side | undefined;
  /** A person's word, already checked to be about these very values. */
  winner: Side | undefined;
}

/**
 * Compares one field three ways. Moved on one side: it goes to the other. Moved on both to different values: the
 * field's rule settles it, or it is a conflict. A field never agreed on that only one side fills is filled on the other.
 */
export function compareField(
  state: FieldState,
  direction: SyncDirection,
  around: Surroundings,
): FieldOutcome {
  const { field, base, local, remote } = state;
  const moved = base
    ? { local: !same(local, base.local), remote: !same(remote, base.remote) }
    : { local: local !== null, remote: remote !== null };
  if (base && !moved.local && !moved.remote) return { kind: 'same' };
  const ways = { local: toLocal(field, remote, around), remote: toRemote(field, local, around) };
  if (says(ways.local, local) || says(ways.remote, remote)) {
    return { kind: 'agree', agreed: { local, remote } };
  }
  const { path } = field;
  const names = `(here ${told(local)}, remote ${told(remote)})`;
  if (!moved.local || !moved.remote) {
    // a value that was refused is one that only one side has moved, and a person may prefer the other
    const winner = state.winner ?? (moved.remote ? 'remote' : 'local');
    const side = winner === 'remote' ? 'local' : 'remote';
    const where = moved.remote ? 'at the remote' : 'here';
    const why = base ? `'${path}' was changed ${where} alone` : `'${path}' is only filled ${where}`;
    return write(side, ways[side], direction, why, false);
  }
  const { winner, why } = settle(state);
  if (winner === undefined) return { kind: 'conflict', reason: `'${path}' ${why} ${names}` };
  const side = winner === 'remote' ? 'local' : 'remote';
  return write(side, ways[side], direction, `'${path}' ${why} ${names}`, true);
}

const says = (way: Told, value: Value): boolean => way.ok && same(way.value, value);

function write(
  side: Side,
  way: Told,
  direction: SyncDirection,
  reason: string,
  settled: boolean,
): FieldOutcome {
  if (side === 'remote' && direction === 'pull') {
    return { kind: 'held', reason: `${reason}; the mapping writes nothing at the remote` };
  }
  if (side === 'local' && direction === 'push') {
    return { kind: 'held', reason: `${reason}; the mapping writes nothing here` };
  }
  if (!way.ok) {
    const { problem, awaits } = way;
    return { kind: 'problem', side, reason: problem, settled, ...(awaits === undefined ? {} : { awaits }) };
  }
  return { kind: 'write', side, value: way.value, settled, reason };
}

/** Who wins a field that was moved on both sides. Times that are unknown or equal decide nothing. */
function settle(state: FieldState): { winner: Side | undefined; why: string } {
  const both = state.base ? 'was changed on both sides' : 'differs and was never agreed on';
  if (state.winner) {
    return { winner: state.winner, why: `${both}; a person chose the ${sideName(state.winner)} value` };
  }
  switch (state.field.rule) {
    case 'remote_leads':
      return { winner: 'remote', why: `${both}; the remote leads` };
    case 'local_leads':
      return { winner: 'local', why: `${both}; the inventory leads` };
    case 'newest_wins': {
      if (state.putBack) {
        // the run that was taken back replaced this value by the newer one of the other side
        const winner = state.putBack === 'local' ? 'remote' : 'local';
        const older = `an undo has written the ${sideName(state.putBack)} value back`;
        return { winner, why: `${both}; the ${sideName(winner)} change is newer, since ${older}` };
      }
      const { local, remote } = state.changedAt;
      if (local === null || remote === null) {
        return { winner: undefined, why: `${both}, and which change is newer is not known` };
      }
      if (local === remote) return { winner: undefined, why: `${both} at the same moment` };
      const winner = local > remote ? 'local' : 'remote';
      return { winner, why: `${both}; the ${sideName(winner)} change is newer` };
    }
    case 'manual':
      return { winner: undefined, why: both };
  }
}

const sideName = (side: Side): string => (side === 'local' ? "inventory's" : "remote's");
