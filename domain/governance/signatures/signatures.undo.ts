import type { Resource, ResourceUndo } from '../../kernel/resources/resource.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import type { BatchEvent } from '../../kernel/undo/undo.rows.ts';
import { undoRow } from '../../kernel/undo/undo.rows.ts';
import { followGone } from './signatures.gone.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/** The events of a kind of documents with signatures. */
export const signedEvents = (key: SignedKind['key']): Required<Resource['events']> => ({
  created: [`${key}.created`],
  updated: [
    `${key}.updated`,
    `${key}.signatures_requested`,
    `${key}.signatory_replaced`,
    `${key}.signed`,
    `${key}.signatures_recalled`,
    `${key}.rejected`,
  ],
  deleted: [`${key}.deleted`],
});

/**
 * How writes of a kind of documents are undone: like other rows, but completely or not at all, because a partial undo could
 * change what was signed later.
 */
export function undoSigned<Row extends SignedRow>(kind: SignedKind<Row>): ResourceUndo['undo'] {
  const { key, entity, model } = kind;
  const spec = { entity, table: model.tableName, events: signedEvents(key) };
  return async (work, ctx, event) => {
    const refusal = await undoRow(work, spec, event as BatchEvent, false);
    const row = (await lockRow(work.sql, model, { id: event.id })) as Row | undefined;
    // the restored document may have signatories who can no longer sign
    if (row) await followGone(work, ctx, kind, row);
    return refusal;
  };
}
