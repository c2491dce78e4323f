import type { BatchEvent } from '../batches/undo.outcome.ts';
import { undoRow } from '../batches/undo.rows.ts';
import type { UndoSpec } from '../batches/undo.types.ts';
import type { EventType } from '../events/events.types.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/**
 * How writes of a kind of signed documents are undone: as those of plain rows, but whole or not at all, so that what was
 * signed later is never changed by halves.
 */
export function signedUndo<Row extends SignedRow>({ key, entity, table }: SignedKind<Row>): UndoSpec {
  const types = (...kinds: string[]) => kinds.map((kind) => `${key}.${kind}` as EventType);
  const spec: UndoSpec = {
    entity,
    table,
    events: {
      created: types('created'),
      updated: types('updated', 'signatures_requested', 'signed', 'signatures_recalled', 'rejected'),
      deleted: types('deleted'),
    },
  };
  return {
    ...spec,
    undo: async (work, _ctx, event) => await undoRow(work, spec, event as BatchEvent, false),
  };
}
