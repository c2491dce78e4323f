import { query } from '../../../platform/database.ts';
import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { responseEvent } from './surveys.commands.ts';
import { type ResponseRow, Survey, SurveyResponse } from './surveys.model.ts';
import { surveyConsumers } from './surveys.references.ts';

/** Surveys and their responses. */
export const surveysExtension: Extension = {
  resources: [
    {
      model: Survey,
      name: 'survey',
      events: {
        created: ['survey.created'],
        updated: ['survey.updated', 'survey.sent', 'survey.closed'],
        deleted: ['survey.deleted'],
      },
      undo: {
        right: needs('surveys.manage'),
        rights: { 'survey.sent': needs('surveys.manage', 'stakeholders.view') },
      },
      transfer: { label: 't.name' },
      asOf: true,
    },
    {
      model: SurveyResponse,
      name: 'survey response',
      events: rowEvents('survey_response'),
      card: 'card_id',
      undo: { right: { needs: ['surveys.respond'], others: ['surveys.manage'] } },
      cardReferences: [
        {
          column: 'card_id',
          once: {
            by: ['survey_id', 'user_id'],
            // one pending response for each user and card; all answers are retained
            only: `t.status = 'pending'`,
            event: ({ id }, type, row) => responseEvent({ id, type: type.key }, row as ResponseRow, null),
          },
        },
      ],
      transfer: { costs: ['responses'] },
      asOf: true,
    },
  ],
  consumers: [surveyConsumers],
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    for (const row of await deleteRowsOfCards<ResponseRow>(work, 'survey_responses', [...byId.keys()])) {
      work.emit(responseEvent(byId.get(row.card_id)!, row, null));
    }
  },
  /** Deletes the pending responses of the users; their answers are retained. */
  async deleteWithUsers(work, _ctx, users) {
    const deleted = await query(work.sql).rows<{ row: ResponseRow; id: string; type: string }>`with gone as (
         delete from survey_responses r where r.user_id = any(${users.map(({ id }) => id)}::uuid[])
         and r.status = 'pending'
         returning r.id, r.card_id, to_jsonb(r) as row
       ) select gone.row, c.id, c.type from gone join cards c on c.id = gone.card_id order by gone.id`;
    for (const { row, ...card } of deleted) work.emit(responseEvent(card, row, null));
  },
};
