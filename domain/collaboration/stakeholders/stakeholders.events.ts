import { type EventDraft, rowChanges } from '../../kernel/events/row-changes.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { StakeholderRow } from '../collaboration.model.ts';

/** The label of a role on cards of the type; its key where the type no longer has the role. */
function roleLabel(type: CardType, role: string): string {
  return type.stakeholderRoles.find(({ key }) => key === role)?.label ?? role;
}

/**
 * The event of one assignment: added without `before`, removed without `after`, else its role was changed.
 * @param name the display name of the user.
 */
export function stakeholderEvent(
  card: { id: string; name: string },
  type: CardType,
  name: string,
  before: StakeholderRow | null,
  after: StakeholderRow | null,
): EventDraft {
  const { id, user_id, role } = (after ?? before)!;
  const label = roleLabel(type, role);
  const [event_type, summary] =
    before === null
      ? (['stakeholder.added', `${name} is ${label}`] as const)
      : after === null
        ? (['stakeholder.removed', `${name} is no longer ${label}`] as const)
        : ([
            'stakeholder.role_changed',
            `${name} is ${label}, no longer ${roleLabel(type, before.role)}`,
          ] as const);
  return {
    event_type,
    card_id: card.id,
    card_type: type.key,
    data: {
      id,
      stakeholder_id: id,
      card_name: card.name,
      user_id,
      user_display_name: name,
      role,
      role_label: label,
      summary,
      changes: rowChanges(before, after),
    },
  };
}
