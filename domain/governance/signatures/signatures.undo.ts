import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { lockRow } from '../../kernel/events/stored-rows.ts';
import type { BatchEvent } from '../../kernel/undo/undo.outcome.ts';
import { undoRow } from '../../kernel/undo/undo.rows.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import { followGone } from './signatures.gone.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/**
 * How writes of a kind of signed documents are undone: as those of plain rows, but whole or not at all, so that what was
 * signed later is never changed by halves.
 */
export function signedUndo<Row extends SignedRow>(kind: SignedKind<Row>): UndoSpec {
  const { key, entity, table } = kind;
  const types = (...kinds: string[]) => kinds.map((kind) => `${key}.${kind}` as EventType);
  const spec: UndoSpec = {
    entity,
    table,
    events: {
      created: types('created'),
      updated: types(
        'updated',
        'signatures_requested',
        'signatory_replaced',
        'signed',
        'signatures_recalled',
        'rejected',
      ),
      deleted: types('deleted'),
    },
  };
  return {
    ...spec,
    undo: async (work, ctx, event) => {
      const left = await undoRow(work, spec, event as BatchEvent, false);
      const row = (await lockRow(work.sql, table, { id: event.id })) as Row | undefined;
      // what is waited for again, or no longer, may be somebody who is gone
      if (row) await followGone(work, ctx, kind, row);
      return left;
    },
  };
}
