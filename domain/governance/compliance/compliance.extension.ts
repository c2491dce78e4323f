import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import type { Extension } from '../../kernel/extensions.ts';
import type { FindingRow } from './compliance.types.ts';
import { complianceUndo, findingEvent } from './findings.events.ts';

/** Compliance findings. */
export const complianceExtension: Extension = {
  undo: complianceUndo,
  cardReferences: [{ entity: 'compliance finding', table: 'compliance_findings', column: 'card_id' }],
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    for (const row of await deleteRowsOfCards<FindingRow>(work, 'compliance_findings', [...byId.keys()])) {
      work.emit(findingEvent(byId.get(row.card_id!)!, row, null));
    }
  },
};
