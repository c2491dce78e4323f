import { queryOptions } from '@tanstack/react-query';
import {
  type Card,
  type CardOverview,
  call,
  items,
  listCardHistory,
  readCard,
  readCardHierarchy,
} from '#client';
import type { CardEvent } from './queries.ts';

const PAGE = 200;

/** The end of a day where the person is. */
const endOf = (day: string) => new Date(`${day}T23:59:59.999`).toISOString();

/** The events of a card after an instant, newest first. */
async function eventsSince(id: string, instant: string, signal: AbortSignal): Promise<CardEvent[]> {
  const events: CardEvent[] = [];
  const read = (cursor: string) =>
    listCardHistory({ signal, path: { id }, query: { cursor, page_size: PAGE } });
  for await (const event of items(read) as AsyncIterable<CardEvent>) {
    if (event.created_at <= instant) break;
    events.push(event);
  }
  return events;
}

/** A card with the value at a path, such as `attributes.costTotalAnnual`. */
function withValue(card: Card, path: string, value: unknown): Card {
  const [key, ...rest] = path.split('.');
  if (rest.length === 0) return { ...card, [key!]: value };
  const { [rest.join('.')]: _, ...others } = { ...(card[key as 'attributes'] as object) } as Record<
    string,
    unknown
  >;
  return { ...card, [key!]: value === null ? others : { ...others, [rest.join('.')]: value } };
}

/** The card before events, newest first, by the values that they replaced. */
export function cardBefore(card: Card, events: readonly CardEvent[]): Card {
  let past = card;
  for (const { event_type, data } of events) {
    const text = (key: string) => String(data?.[key] ?? '');
    if (event_type.startsWith('card.')) {
      for (const [path, { old }] of Object.entries(data?.changes ?? {}))
        past = withValue(past, path, old ?? null);
    } else if (event_type === 'tag.added') {
      const id = String(data?.changes?.tag_id?.new);
      past = { ...past, tags: past.tags?.filter((tag) => tag.id !== id) ?? [] };
    } else if (event_type === 'tag.removed') {
      const tag = {
        id: String(data?.changes?.tag_id?.old),
        name: text('tag_name'),
        color: null,
        group_name: text('group_name'),
      };
      past = { ...past, tags: [...(past.tags ?? []), tag] };
    } else if (event_type === 'stakeholder.added') {
      past = { ...past, stakeholders: past.stakeholders?.filter(({ id }) => id !== text('id')) ?? [] };
    } else if (event_type === 'stakeholder.removed') {
      const person = {
        id: text('id'),
        user_id: text('user_id'),
        user_display_name: text('user_display_name'),
        user_email: null,
        role: text('role'),
      };
      past = { ...past, stakeholders: [...(past.stakeholders ?? []), person] };
    } else if (event_type === 'stakeholder.role_changed') {
      const role = String(data?.changes?.role?.old);
      past = {
        ...past,
        stakeholders: past.stakeholders?.map((one) => (one.id === text('id') ? { ...one, role } : one)) ?? [],
      };
    }
  }
  return past;
}

type Groups = NonNullable<CardOverview['relations']>;
type Item = Groups[number]['items'][number];

/** The relations of a card before events, newest first. */
function relationsBefore(id: string, relations: Groups, events: readonly CardEvent[]): Groups {
  const groups = new Map(
    relations.map((group) => [
      `${group.relation_type_key} ${group.direction}`,
      { ...group, items: [...group.items] },
    ]),
  );
  for (const { event_type, data } of events) {
    if (!event_type.startsWith('relation.') || !data) continue;
    const isSource = data.source_id === id;
    const direction = isSource ? ('outgoing' as const) : ('incoming' as const);
    const key = `${data.type} ${direction}`;
    const label = String(
      (isSource ? data.relation_label : data.relation_reverse_label) ?? data.relation_label,
    );
    const group = groups.get(key) ?? {
      relation_type_key: String(data.type),
      direction,
      label,
      count: 0,
      items: [],
    };
    groups.set(key, group);
    const attributes = (side: 'old' | 'new') =>
      Object.fromEntries(
        Object.entries(data.changes ?? {}).flatMap(([path, change]) =>
          path.startsWith('attributes.') ? [[path.slice(11), change[side]]] : [],
        ),
      );
    const at = group.items.findIndex(({ relation_id }) => relation_id === data.id);
    if (event_type === 'relation.created') {
      if (at >= 0) group.items.splice(at, 1);
      group.count -= 1;
    } else if (event_type === 'relation.deleted') {
      const [otherId, name, type] = isSource
        ? [data.target_id, data.target_name, data.target_type]
        : [data.source_id, data.source_name, data.source_type];
      group.items.push({
        relation_id: String(data.id),
        description: (data.changes?.description?.old as string | undefined) ?? null,
        attributes: attributes('old'),
        card: { id: otherId, name, type } as Item['card'],
      });
      group.count += 1;
    } else if (at >= 0) {
      const item = group.items[at]!;
      group.items[at] = { ...item, attributes: { ...item.attributes, ...attributes('old') } };
    }
  }
  return [...groups.values()].filter(({ count }) => count > 0);
}

/** A card at the end of a day, from its history; null if it was made later. */
export const pastQuery = (id: string, now: CardOverview, day: string) =>
  queryOptions({
    queryKey: ['card', id, 'past', day, now.card.updated_at],
    queryFn: async ({ signal }): Promise<CardOverview | null> => {
      const instant = endOf(day);
      if (now.card.created_at > instant) return null;
      const events = await eventsSince(id, instant, signal);
      const card = cardBefore(now.card, events);
      const isMoved = card.parent_id !== now.card.parent_id;
      const above = isMoved ? await ancestorsBelow(card.parent_id, signal) : now.hierarchy?.ancestors;
      return {
        ...now,
        card,
        relations: now.relations && relationsBefore(id, now.relations, events),
        ...(now.hierarchy &&
          above && {
            hierarchy: { ...now.hierarchy, ancestors: above, level: above.length + 1 },
          }),
      };
    },
  });

/** The cards above a child of a card, with that card. */
async function ancestorsBelow(parent: string | null, signal: AbortSignal) {
  if (parent === null) return [];
  const path = { id: parent };
  const [{ id, name, type }, { ancestors }] = await Promise.all([
    call(readCard({ signal, path })),
    call(readCardHierarchy({ signal, path })),
  ]);
  return [...ancestors, { id, name, type }];
}
