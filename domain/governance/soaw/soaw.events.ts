import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { SoawRow } from './soaw.model.ts';
import { INITIATIVE } from './soaw.types.ts';

/** The event of a written statement, in the history of its initiative where it has one. */
export function soawEvent(
  initiative: { id: string } | null,
  before: SoawRow | null,
  after: SoawRow | null,
  type?: EventType,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, name, status } = (after ?? before)!;
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return {
    event_type: type ?? `soaw.${kind}`,
    ...(initiative ? { card_id: initiative.id, card_type: INITIATIVE } : {}),
    data: { id, name, status, ...more, changes: rowChanges(before, after) },
  };
}
