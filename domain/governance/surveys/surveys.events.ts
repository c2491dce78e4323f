import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import type { ResponseRow, SurveyRow } from './surveys.types.ts';

/** The event of a written survey: by default what follows from the rows that there are. */
export function surveyEvent(
  before: SurveyRow | null,
  after: SurveyRow | null,
  event_type?: 'survey.sent' | 'survey.closed',
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, name } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: event_type ?? `survey.${kind}`,
    data: { id, name, ...more, changes: rowChanges(before, after) },
  };
}

/** The event of one written response, in the history of its card for those who manage surveys. */
export function responseEvent(
  card: { id: string; type: string },
  before: ResponseRow | null,
  after: ResponseRow | null,
): EventDraft {
  const { id, survey_id, user_id } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  const costs = [before, after].some((row) => row !== null && row.cost_keys.length > 0);
  return {
    event_type: `survey_response.${kind}`,
    card_id: card.id,
    card_type: card.type,
    cost_keys: costs ? ['responses'] : null,
    data: { id, survey_id, user_id, changes: rowChanges(before, after) },
  };
}

export const surveyUndo: UndoSpec[] = [
  {
    entity: 'survey',
    table: 'surveys',
    events: {
      created: ['survey.created'],
      updated: ['survey.updated', 'survey.sent', 'survey.closed'],
      deleted: ['survey.deleted'],
    },
  },
  {
    entity: 'survey response',
    table: 'survey_responses',
    events: {
      created: ['survey_response.created'],
      updated: ['survey_response.updated'],
      deleted: ['survey_response.deleted'],
    },
  },
];
