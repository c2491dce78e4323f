import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { ResponseRow, SurveyRow } from './surveys.model.ts';

/** The event of a written survey; its type follows from the rows unless given. */
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

/** The event of one written response, in the history of its card. */
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
