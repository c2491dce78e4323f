import type { Extension } from '../../kernel/extensions.ts';
import { followSignatories } from '../signatures/signatures.gone.ts';
import { soawEvent } from './soaw.events.ts';
import { soawKind } from './soaw.kind.ts';
import type { SoawRow } from './soaw.types.ts';
import { soawUndo } from './soaw.undo.ts';

/** Statements of architecture work. */
export const soawExtension: Extension = {
  undo: soawUndo,
  cardReferences: [{ entity: 'statement of architecture work', table: 'soaws', column: 'initiative_id' }],
  /** A statement outlives its initiative. */
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    const { rows } = await work.sql.raw(
      `update soaws t set initiative_id = null, updated_at = clock_timestamp() where initiative_id = any(?::uuid[])
       returning old.initiative_id, to_jsonb(t) as row`,
      [[...byId.keys()]],
    );
    for (const { initiative_id, row } of rows as { initiative_id: string; row: SoawRow }[]) {
      work.emit(soawEvent(byId.get(initiative_id)!, { ...row, initiative_id }, row));
    }
  },
  async userRightsChanged(work, ctx, userIds) {
    await followSignatories(work, ctx, soawKind, userIds);
  },
};
