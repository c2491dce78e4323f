import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import { CLEANUP_BATCH, type Extension } from '../../kernel/extensions.ts';
import { diagramUndo, linkEvent } from './diagrams.events.ts';
import type { LinkRow } from './diagrams.types.ts';
import { ownersOf } from './diagrams.visible.ts';
import { removeLeftDrawings } from './drawings.store.ts';

/** Diagrams, and the cards that they show. */
export const diagramsExtension: Extension = {
  undo: diagramUndo,
  cardReferences: [
    {
      entity: 'diagram link',
      table: 'diagram_cards',
      column: 'card_id',
      once: {
        by: ['diagram_id'],
        // the diagram may be private to its author, so the event of the dropped link goes to the author alone
        event: (card, type, row, _user, gone) => {
          const link = row as LinkRow;
          return { ...linkEvent({ id: card.id, type: type.key }, link, gone, link.user_id), scope: 'user' };
        },
      },
    },
  ],
  cleanups: {
    diagram_drawings: (sql, { batches_days }) => removeLeftDrawings(sql, batches_days, CLEANUP_BATCH),
  },
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    const links = await deleteRowsOfCards<LinkRow>(work, 'diagram_cards', [...byId.keys()]);
    const owners = await ownersOf(
      work.sql,
      links.map(({ diagram_id }) => diagram_id),
    );
    for (const row of links) {
      work.emit(linkEvent(byId.get(row.card_id)!, row, true, owners.get(row.diagram_id) ?? null));
    }
  },
};
