import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { responseEvent, surveyUndo } from './surveys.events.ts';
import { withdrawQuestions } from './surveys.leave.ts';
import type { ResponseRow } from './surveys.types.ts';

/** Surveys and their responses. */
export const surveysExtension: Extension = {
  undo: surveyUndo,
  cardReferences: [
    {
      entity: 'survey response',
      table: 'survey_responses',
      column: 'card_id',
      once: {
        by: ['survey_id', 'user_id'],
        // one question a user and card; answers are all kept
        only: `t.status = 'pending'`,
        event: (card, type, row, _user, gone) => {
          const stored = row as unknown as ResponseRow;
          return responseEvent({ id: card.id, type: type.key }, gone ? stored : null, gone ? null : stored);
        },
      },
    },
  ],
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    for (const row of await deleteRowsOfCards<ResponseRow>(work, 'survey_responses', [...byId.keys()])) {
      work.emit(responseEvent(byId.get(row.card_id)!, row, null));
    }
  },
  async deleteWithUsers(work, _ctx, users) {
    await withdrawQuestions(
      work,
      users.map(({ id }) => id),
    );
  },
};
