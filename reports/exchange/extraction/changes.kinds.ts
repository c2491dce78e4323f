/**
 * Which kinds of events there have been that concern other cards than their own: what need not be looked for need not be
 * planned either.
 */
export interface EventKinds {
  /** A card has another name, external id or parent. */
  parents: boolean;
  /** A tag or a group of tags has changed. */
  tags: boolean;
  /** Something about a person has. */
  people: boolean;
  /** A card may no longer be there. */
  removals: boolean;
}

export const RENAMED = "'name', 'external_id'";
export const MOVED = `${RENAMED}, 'parent_id'`;

// conditions over the alias `e` of events
/** Events that tell of the card `card_id` itself. */
export const OWN =
  "(e.event_type like 'card.%' or e.event_type like 'tag.%' or e.event_type like 'stakeholder.%')";
export const ofPeople = "(e.event_type like 'user.%' or e.event_type like 'auth.%')";
export const ofTags = "e.event_type in ('tag.updated', 'tag_group.updated')";
export const cardUpdate = (columns: string): string =>
  `e.event_type = 'card.updated' and jsonb_exists_any(e.data -> 'changes', array[${columns}])`;

/** What may have taken a card away: all that is not known to have left it. */
const removal = `e.event_type like 'card.%' and e.event_type not like 'card.approval\\_status.%'
  and e.event_type not in ('card.created', 'card.updated', 'card.archived', 'card.restored')`;

/** The select list that gives the kinds, over events of which those that are `later` count. */
export const eventKinds = Object.entries({
  parents: cardUpdate(MOVED),
  tags: ofTags,
  people: ofPeople,
  removals: removal,
})
  .map(([kind, condition]) => `coalesce(bool_or(e.later and ${condition}), false) as ${kind}`)
  .join(', ');
