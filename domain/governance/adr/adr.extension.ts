import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { followSignatories } from '../signatures/signatures.gone.ts';
import { adrKind } from './adr.kind.ts';
import { type AdrCardRow, adrCardEvent } from './adr.links.events.ts';
import { adrUndo } from './adr.undo.ts';

/** Architecture decision records. */
export const adrExtension: Extension = {
  undo: adrUndo,
  cardReferences: [
    {
      entity: 'decision link',
      table: 'adr_cards',
      column: 'card_id',
      once: {
        by: ['adr_id'],
        event: (card, type, row, _user, gone) => {
          const stored = row as AdrCardRow;
          const on = { id: card.id, type: type.key };
          return adrCardEvent(on, null, gone ? stored : null, gone ? null : stored);
        },
      },
    },
  ],
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    for (const row of await deleteRowsOfCards<AdrCardRow>(work, 'adr_cards', [...byId.keys()])) {
      work.emit(adrCardEvent(byId.get(row.card_id)!, null, row, null));
    }
  },
  async userRightsChanged(work, ctx, userIds) {
    await followSignatories(work, ctx, adrKind, userIds);
  },
};
