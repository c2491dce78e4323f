import type { EventDraft } from '../../kernel/events/events.types.ts';

/** The card as a tag's event names it. */
export interface TaggedCard {
  id: string;
  type: string;
  name: string;
}

/** The event of a tag that was put on a card, or taken off it. */
export function tagEvent(
  card: TaggedCard,
  tag: { id: string; name: string; group: string },
  added: boolean,
): EventDraft {
  return {
    event_type: added ? 'tag.added' : 'tag.removed',
    card_id: card.id,
    card_type: card.type,
    data: {
      id: card.id,
      type: card.type,
      name: card.name,
      tag_name: tag.name,
      group_name: tag.group,
      changes: { tag_id: added ? { old: null, new: tag.id } : { old: tag.id, new: null } },
    },
  };
}
