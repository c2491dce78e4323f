import { query, type Sql } from '../../../platform/database.ts';
import { permissionSet } from '../../access/access.sessions.ts';
import type { Caller } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import {
  allPreferences,
  type NotificationPreferences,
  type StoredPreferences,
} from './notifications.types.ts';

/** A possible recipient. */
export interface Person {
  id: string;
  locale: string;
  permissions: Caller['permissions'];
  preferences: NotificationPreferences;
}

export interface NotifiedCard {
  id: string;
  name: string;
  type: string;
}

/** The data that decides who receives notifications. */
export interface People {
  /** Active users by id. */
  users: ReadonlyMap<string, Person>;
  cards: ReadonlyMap<string, NotifiedCard>;
  /** The roles of users on cards: user to role keys, by card. */
  holders: ReadonlyMap<string, ReadonlyMap<string, string[]>>;
}

/** Reads cards with their stakeholders, and users, in three statements. */
export async function readPeople(sql: Sql, cardIds: string[], userIds: string[]): Promise<People> {
  const cards = new Map<string, NotifiedCard>();
  const holders = new Map<string, Map<string, string[]>>();
  const wanted = new Set(userIds);
  if (cardIds.length > 0) {
    const rows: NotifiedCard[] = await sql('cards').whereIn('id', cardIds).select('id', 'name', 'type');
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
      users.set(id, {
        id,
        locale,
        permissions: permissionSet(permissions),
        preferences: allPreferences(notification_preferences as StoredPreferences),
      });
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
export function canSeeCard(
  metamodel: Metamodel,
  people: People,
  person: Person,
  card: NotifiedCard,
): boolean {
  const type = metamodel.cardTypes.get(card.type);
  if (!type || type.is_hidden) return false;
  if (hasPermission(person, 'inventory.view')) return true;
  const roles = people.holders.get(card.id)?.get(person.id) ?? [];
  return type.stakeholderRoles.some((role) => role.permissions.has('card.view') && roles.includes(role.key));
}
