import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { ppmEvent } from './ppm.events.ts';
import { inLeavingOrder, ppmLeaving } from './ppm.leaving.ts';
import type { PpmRow } from './ppm.types.ts';
import { ppmUndo } from './ppm.undo.ts';

/** Project portfolio: what initiatives plan, report and spend. */
export const ppmExtension: Extension = {
  undo: ppmUndo,
  cardReferences: [
    { entity: 'status report', table: 'ppm_reports', column: 'card_id' },
    { entity: 'cost line', table: 'ppm_cost_lines', column: 'card_id' },
    { entity: 'budget line', table: 'ppm_budget_lines', column: 'card_id' },
    { entity: 'project risk', table: 'ppm_risks', column: 'card_id' },
    { entity: 'WBS item', table: 'ppm_wbs', column: 'card_id' },
    { entity: 'task', table: 'ppm_tasks', column: 'card_id' },
    { entity: 'task comment', table: 'ppm_task_comments', column: 'card_id' },
    { entity: 'task dependency', table: 'ppm_dependencies', column: 'card_id' },
  ],
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    for (const kind of ppmLeaving) {
      const rows = await deleteRowsOfCards<PpmRow>(work, kind.table, [...byId.keys()]);
      for (const row of inLeavingOrder(kind, rows)) {
        work.emit(ppmEvent(kind, byId.get(row.card_id)!, row, null));
      }
    }
  },
};
