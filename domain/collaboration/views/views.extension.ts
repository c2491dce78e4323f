import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { bookmarkUndo } from './bookmarks.events.ts';
import { favoriteEvent } from './favorites.events.ts';
import { favoriteUndo } from './favorites.ts';

/** Bookmarks, and the cards that users have starred. */
export const viewsExtension: Extension = {
  undo: [favoriteUndo, bookmarkUndo].flat(),
  cardReferences: [
    {
      entity: 'favorite',
      table: 'favorites',
      column: 'card_id',
      owner: 'user_id',
      once: {
        by: ['user_id'],
        event: (_card, _type, row, _user, gone) => favoriteEvent(gone ? row : null, gone ? null : row),
      },
    },
  ],
  async deleteWithCards(work, cards) {
    const ids = cards.map(({ id }) => id);
    for (const row of await deleteRowsOfCards<StoredRow>(work, 'favorites', ids)) {
      work.emit(favoriteEvent(row, null));
    }
  },
};
