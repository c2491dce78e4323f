import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft } from '../../kernel/events/row-changes.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { type Changes, costKeysIn } from './rules/diff.ts';

/**
 * The event of one written card; `name` is its current or last name. `more` are additional members of its data that an
 * undo needs.
 */
export function cardEvent(
  event_type: EventType,
  type: CardType,
  card: { id: string; name: string },
  changes: Changes,
  more: Record<string, unknown> = {},
): EventDraft {
  return {
    event_type,
    card_id: card.id,
    card_type: type.key,
    cost_keys: costKeysIn(changes, type.costKeys),
    data: { id: card.id, type: type.key, name: card.name, ...more, changes },
  };
}

/** The topic that every change to cards of a type raises. */
export const cardsTopic = (type: string): string => `cards:${type}`;
