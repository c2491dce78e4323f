import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { OccurrenceRow, RiskCardRow, RiskRow, TaskRow } from './risks.model.ts';
import { currentLevel } from './risks.rules.ts';
import type { LinkedCard } from './risks.types.ts';

/** The cards in whose histories an event shows. */
const shownOn = (cardIds: readonly string[]) => (cardIds.length === 0 ? {} : { card_ids: cardIds });

/** The members of events that describe a risk. */
const told = (risk: RiskRow) => ({
  risk_id: risk.id,
  reference: risk.reference,
  title: risk.title,
  status: risk.status,
  level: currentLevel(risk),
  category: risk.category,
  owner_id: risk.owner_id,
  created_by: risk.created_by,
  link: riskLink(risk.id),
  summary: `${risk.reference}: ${risk.title}`,
});

/** The page of the application that shows a risk. */
export const riskLink = (id: string): string => `/risks/${id}`;

/** The event of one written risk, in the histories of the cards that it is linked to. */
export function riskEvent(
  before: RiskRow | null,
  after: RiskRow | null,
  cardIds: readonly string[] = [],
): EventDraft {
  const row = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `risk.${kind}`,
    data: { id: row.id, ...told(row), ...shownOn(cardIds), changes: rowChanges(before, after) },
  };
}

/**
 * The event of one written link of a risk to a card, in the card's history.
 * @param risk undefined where a merge of cards drops a link, because it has only the rows.
 */
export function riskCardEvent(
  card: LinkedCard,
  risk: RiskRow | undefined,
  before: RiskCardRow | null,
  after: RiskCardRow | null,
): EventDraft {
  const { id, risk_id, role } = (after ?? before)!;
  const kind = before === null ? 'added' : after === null ? 'removed' : 'role_changed';
  return {
    event_type: `risk.${kind}`,
    card_id: card.id,
    card_type: card.type,
    data: { id, risk_id, ...(risk ? told(risk) : {}), role, changes: rowChanges(before, after) },
  };
}

/** The event of one written mitigation task, in the histories of its risk's cards. */
export function taskEvent(
  before: TaskRow | null,
  after: TaskRow | null,
  cardIds: readonly string[],
): EventDraft {
  const { id, risk_id, reference, title } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: `risk_mitigation_task.${kind}`,
    data: {
      id,
      task_id: id,
      risk_id,
      reference,
      title,
      ...shownOn(cardIds),
      changes: rowChanges(before, after),
    },
  };
}

/** The event of one written occurrence of a task, in the histories of its risk's cards. */
export function occurrenceEvent(
  { id: task_id, risk_id, reference, title }: TaskRow,
  before: OccurrenceRow | null,
  after: OccurrenceRow | null,
  cardIds: readonly string[],
): EventDraft {
  const { id, sequence, status, due_date, assigned_owner_id } = (after ?? before)!;
  return {
    event_type: `risk_mitigation_task.${occurrenceVerb(before, after)}`,
    data: {
      id,
      task_id,
      risk_id,
      reference,
      title,
      sequence,
      status,
      due_date,
      assigned_owner_id,
      ...shownOn(cardIds),
      changes: rowChanges(before, after),
    },
  };
}

const verbs = { open: 'activated', done: 'completed', skipped: 'skipped' } as const;

function occurrenceVerb(before: OccurrenceRow | null, after: OccurrenceRow | null) {
  if (before === null) return 'occurrence_added';
  if (after === null) return 'occurrence_removed';
  const { status } = after;
  return status === before.status || status === 'scheduled' ? 'occurrence_updated' : verbs[status];
}
