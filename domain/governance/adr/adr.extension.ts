import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs, personal } from '../../kernel/undo/undo.types.ts';
import { followSignatories, signedEvents, undoSigned } from '../signatures/signatures.signatories.ts';
import { Adr, AdrCard, type AdrCardRow, adrCardEvent, adrKind } from './adr.kind.ts';

/** Architecture decision records. */
export const adrExtension: Extension = {
  resources: [
    {
      model: Adr,
      name: adrKind.entity,
      events: signedEvents('adr'),
      undo: {
        right: needs('adr.manage'),
        rights: {
          'adr.deleted': { needs: ['adr.manage'], others: ['adr.delete'] },
          'adr.signed': personal('adr.sign'),
          'adr.rejected': personal('adr.sign'),
        },
        undo: undoSigned(adrKind),
      },
      transfer: { label: 't.title' },
    },
    {
      model: AdrCard,
      name: 'decision link',
      events: { created: ['adr_card.created'], deleted: ['adr_card.deleted'] },
      card: 'card_id',
      undo: { right: needs({ app: 'adr.manage', card: 'card.manage_adr_links' }) },
      cardReferences: [
        {
          column: 'card_id',
          once: {
            by: ['adr_id'],
            event: ({ id }, type, row) => adrCardEvent({ id, type: type.key }, null, row as AdrCardRow, null),
          },
        },
      ],
      transfer: { matches: [['%.adr_id', '%.card_id']] },
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
