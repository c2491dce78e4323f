import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { Finding, type FindingRow } from './compliance.model.ts';
import { findingEvent } from './findings.list.ts';

/** Compliance findings. */
export const complianceExtension: Extension = {
  resources: [
    {
      model: Finding,
      name: 'compliance finding',
      events: rowEvents('compliance_finding'),
      card: 'card_id',
      undo: { right: needs('compliance.manage', 'grc.manage') },
      cardReferences: [{ column: 'card_id' }],
      transfer: {},
    },
  ],
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    for (const row of await deleteRowsOfCards<FindingRow>(work, 'compliance_findings', [...byId.keys()])) {
      work.emit(findingEvent(byId.get(row.card_id!)!, row, null));
    }
  },
};
