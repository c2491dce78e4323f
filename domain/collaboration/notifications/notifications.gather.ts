import { query, type Sql } from '../../../platform/database.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { permissionSet } from '../../access/access.sessions.ts';
import type { Caller } from '../../kernel/context.ts';
import type { FeedRow } from '../../kernel/events/feed.read.ts';
import type { RowChanges } from '../../kernel/events/row-changes.ts';
import { formatDate } from '../../kernel/mail/mail.templates.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import type { EventCard } from '../items.ts';
import type { Facts, NotificationRule } from './notifications.rule.ts';
import { notificationRules } from './notifications.rules.ts';
import {
  allPreferences,
  type NotificationPreferences,
  type NotificationType,
  type StoredPreferences,
} from './notifications.types.ts';

/** A possible recipient. */
export interface Person {
  id: string;
  locale: string;
  permissions: Caller['permissions'];
  preferences: NotificationPreferences;
}

/** The data that decides who receives notifications. */
export interface People {
  /** Active users by id. */
  users: ReadonlyMap<string, Person>;
  cards: ReadonlyMap<string, EventCard>;
  /** The roles of users on cards: user to role keys, by card. */
  holders: ReadonlyMap<string, ReadonlyMap<string, string[]>>;
}

/** Reads cards with their stakeholders, and users, in three statements. */
export async function readPeople(sql: Sql, cardIds: string[], userIds: string[]): Promise<People> {
  const cards = new Map<string, EventCard>();
  const holders = new Map<string, Map<string, string[]>>();
  const wanted = new Set(userIds);
  if (cardIds.length > 0) {
    const rows: EventCard[] = await sql('cards').whereIn('id', cardIds).select('id', 'name', 'type');
    for (const card of rows) cards.set(card.id, card);
    const held: { card_id: string; user_id: string; role: string }[] = await sql('stakeholders')
      .whereIn('card_id', cardIds)
      .select('card_id', 'user_id', 'role');
    for (const { card_id, user_id, role } of held) {
      const ofCard = holders.get(card_id) ?? new Map<string, string[]>();
      ofCard.set(user_id, [...(ofCard.get(user_id) ?? []), role]);
      holders.set(card_id, ofCard);
      wanted.add(user_id);
    }
  }
  const users = new Map<string, Person>();
  if (wanted.size > 0) {
    const rows = await query(sql).rows`select u.id, u.locale, u.notification_preferences, r.permissions
       from users u join roles r on r.key = u.role
       where u.id = any(${[...wanted]}::uuid[]) and u.is_active and not r.is_archived`;
    for (const { id, locale, notification_preferences, permissions } of rows) {
      const preferences = allPreferences(notification_preferences as StoredPreferences);
      users.set(id, { id, locale, permissions: permissionSet(permissions), preferences });
    }
  }
  return { users, cards, holders };
}

export function hasPermission({ permissions }: Person, permission: AppPermission): boolean {
  return permissions === '*' || permissions.has(permission);
}

/**
 * Whether the person sees the card, as every read of cards decides it: a type that is not hidden, and either
 * `inventory.view` or a role on the card that gives `card.view`.
 */
export function canSeeCard(metamodel: Metamodel, people: People, person: Person, card: EventCard): boolean {
  const type = metamodel.cardTypes.get(card.type);
  if (!type || type.is_hidden) return false;
  if (hasPermission(person, 'inventory.view')) return true;
  const roles = people.holders.get(card.id)?.get(person.id) ?? [];
  return type.stakeholderRoles.some((role) => role.permissions.has('card.view') && roles.includes(role.key));
}

/** The content of one notification: the events of a batch for one user and one type. */
export interface Group {
  userId: string;
  type: NotificationType;
  batchId: string | null;
  actorId: string | null;
  actor: string;
  /** The first event. */
  position: number;
  /** The cards, or otherwise the events, that it describes. */
  things: Set<string>;
  title: string;
  message: string;
  link: string | null;
  cardId: string | null;
  rule: NotificationRule;
  inApp: boolean;
  email: boolean;
  chat: boolean;
}

interface GatherOptions {
  metamodel: Metamodel;
  people: People;
  /** The `date_format` of the settings. */
  dateFormat: string;
}

/** The users to whom a rule sends an event, except followers. */
function named(rule: NotificationRule, event: FeedRow): string[] {
  if (rule.to === 'followers') return [];
  return rule.to(event).filter((id): id is string => typeof id === 'string' && isUuid(id));
}

/** The users and cards that must be loaded to evaluate the rules. */
export function collectReferences(events: FeedRow[]): { users: string[]; cards: string[] } {
  const users = new Set<string>();
  const cards = new Set<string>();
  for (const event of events) {
    if (event.card_id) cards.add(event.card_id);
    for (const rule of notificationRules[event.event_type] ?? []) {
      for (const id of named(rule, event)) users.add(id);
    }
  }
  return { users: [...users], cards: [...cards] };
}

/**
 * Evaluates rules, permissions and preferences, and combines the events of a batch. A user gets at most one notification for
 * an event.
 */
export function deriveNotifications(events: FeedRow[], options: GatherOptions): Group[] {
  const groups = new Map<string, Group>();
  for (const event of events) {
    const notified = new Set<string>();
    for (const rule of notificationRules[event.event_type] ?? []) {
      if (rule.when && !rule.when(event)) continue;
      for (const person of recipientsOf(rule, event, options)) {
        if (notified.has(person.id) || !wants(person, rule)) continue;
        notified.add(person.id);
        addTo(groups, rule, event, person, options);
      }
    }
  }
  return [...groups.values()];
}

/** The recipients of an event by a rule: active users with the permission, except the actor. */
function* recipientsOf(
  rule: NotificationRule,
  event: FeedRow,
  { metamodel, people }: GatherOptions,
): Generator<Person> {
  const card = event.card_id ? people.cards.get(event.card_id) : undefined;
  // the card was deleted since
  if (event.card_id && !card) return;
  const ids =
    rule.to === 'followers' ? (people.holders.get(card?.id ?? '')?.keys() ?? []) : named(rule, event);
  for (const id of ids) {
    if (id === event.user_id && !rule.toActor?.(event)) continue;
    const person = people.users.get(id);
    if (!person || (rule.permission && !hasPermission(person, rule.permission))) continue;
    if (!card || canSeeCard(metamodel, people, person, card)) yield person;
  }
}

const wants = ({ preferences }: Person, { type }: NotificationRule): boolean =>
  preferences.in_app[type] || preferences.email[type] || preferences.chat[type];

function addTo(
  groups: Map<string, Group>,
  rule: NotificationRule,
  event: FeedRow,
  person: Person,
  options: GatherOptions,
): void {
  const key = `${person.id}/${rule.type}/${event.batch_id ?? event.position}`;
  const thing = rule.to === 'followers' ? event.card_id! : String(event.position);
  const known = groups.get(key);
  if (known) {
    known.things.add(thing);
    return;
  }
  const facts = factsOf(event, person, options);
  groups.set(key, {
    userId: person.id,
    type: rule.type,
    batchId: event.batch_id,
    actorId: event.user_id,
    actor: facts.actor,
    position: event.position,
    things: new Set([thing]),
    title: oneLine(rule.title(facts)),
    message: oneLine(rule.message(facts)),
    link: rule.link ? rule.link(facts) : cardLink(facts.card),
    cardId: event.card_id,
    rule,
    inApp: person.preferences.in_app[rule.type],
    email: person.preferences.email[rule.type],
    chat: person.preferences.chat[rule.type],
  });
}

function factsOf(
  event: FeedRow,
  { locale }: Person,
  { metamodel, people, dateFormat }: GatherOptions,
): Facts {
  const card = event.card_id ? people.cards.get(event.card_id) : undefined;
  return {
    event,
    changes: (event.data.changes ?? {}) as RowChanges,
    actor: event.user_display_name ?? 'Estate',
    card: card && { id: card.id, name: card.name, type: metamodel.cardTypes.get(card.type)! },
    date: (text) => formatDate(text, dateFormat, locale),
  };
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();

/** The texts of a notification that describes several events. */
export function digestTexts(
  rule: NotificationRule,
  count: number,
  actor: string,
): { title: string; message: string } {
  const title = rule.many(count);
  return { title, message: `${title} by ${actor}.` };
}

const cardLink = (card: Pick<EventCard, 'id'> | undefined): string | null =>
  card ? `/cards/${card.id}` : null;
