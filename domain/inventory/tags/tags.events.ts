import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';

/** A card in the events of its tags. */
export interface TaggedCard {
  id: string;
  type: string;
  name: string;
}

/** A tag with the name of its group. */
export interface NamedTag {
  id: string;
  name: string;
  group: string;
}

/** The event of a tag that was added to a card, or removed from it. */
export function tagEvent(card: TaggedCard, tag: NamedTag, added: boolean): EventDraft {
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

/** The event of a written tag or tag group. */
export function catalogueEvent(
  entity: 'tag' | 'tag_group',
  before: object | null,
  after: object | null,
): EventDraft {
  const { id, name } = (after ?? before) as { id: string; name: string };
  return rowEvent(entity, before, after, { id, name });
}
