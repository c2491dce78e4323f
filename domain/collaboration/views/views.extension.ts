import { stillEditable } from '../../access/shares.ts';
import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { personal } from '../../kernel/undo/undo.types.ts';
import { mayEditBookmark } from './bookmarks.commands.ts';
import { viewConsumers } from './bookmarks.references.ts';
import { favoriteEvent } from './favorites.ts';
import { Bookmark, Favorite, type FavoriteRow } from './views.model.ts';

/** Bookmarks, and the cards that users have starred. */
export const viewsExtension: Extension = {
  resources: [
    {
      model: Favorite,
      name: 'favorite',
      events: { created: ['favorite.created'], deleted: ['favorite.deleted'] },
      undo: { right: personal('inventory.view') },
      cardReferences: [
        {
          column: 'card_id',
          owner: 'user_id',
          once: {
            by: ['user_id'],
            event: (_card, _type, row) => favoriteEvent(row as FavoriteRow, null),
          },
        },
      ],
      transfer: { matches: [['%.user_id', '%.card_id']], recipient: 'user_id' },
      asOf: true,
    },
    {
      model: Bookmark,
      name: 'bookmark',
      events: rowEvents('bookmark'),
      undo: {
        right: personal('bookmarks.manage', 'bookmarks.share', 'bookmarks.odata'),
        rights: {
          'bookmark.updated': {
            ...personal('bookmarks.manage'),
            columns: {
              visibility: 'bookmarks.share',
              shared_with: 'bookmarks.share',
              odata_enabled: 'bookmarks.odata',
            },
          },
        },
        settle: stillEditable('bookmarks', 'view', mayEditBookmark),
      },
      transfer: { label: 't.name', recipient: 'owner_id' },
    },
  ],
  consumers: [viewConsumers],
  async deleteWithCards(work, cards) {
    const ids = cards.map(({ id }) => id);
    for (const row of await deleteRowsOfCards<FavoriteRow>(work, 'favorites', ids)) {
      work.emit(favoriteEvent(row, null));
    }
  },
};
