import type { Knex } from 'knex';
import { queryRows } from '../../../platform/database.ts';
import type { Named } from './convert.others.ts';
import { addressesOf, quoted } from './convert.values.ts';
import { roleOf } from './mapping.guess.ts';
import type { NewRecord } from './records.ts';
import { type HeldCard, holderRecords, type PlacelessRecord } from './stage.holders.ts';
import type { Found } from './stage.lookup.ts';
import type { Staging } from './stage.types.ts';

/** A row that tells who has a role on a card, with its record as far as that is known. */
export interface SubscriptionRow {
  record: NewRecord;
  named: Named;
  /** The card. */
  found: Found;
}

/** The addresses that a row names, in small letters. */
export const peopleOf = (named: Named): string[] => [
  ...new Set(addressesOf(named.get('person')?.cell ?? '').map((email) => email.toLowerCase())),
];

/** The record of a card of the file that gets people. */
interface CardRecord extends HeldCard {
  action: NonNullable<NewRecord['action']>;
  holders: { user_id: string; role: string }[];
}

/**
 * Puts the people whom rows name beside those whom the cards' own rows name, which then are written with their cards. Nobody
 * gets an account: who has none is told of.
 * @param users ids by address in small letters.
 */
export async function subscriptionRecords(
  staging: Staging,
  sql: Knex.Transaction,
  rows: readonly SubscriptionRow[],
  users: ReadonlyMap<string, string>,
): Promise<NewRecord[]> {
  const cards = await cardRecords(staging, sql, rows);
  const added = new Map<number, CardRecord['holders']>();
  const records = rows.flatMap(({ record, named, found }): NewRecord[] => {
    if (record.action) return [record];
    const left = (action: 'conflict' | 'skip', error_message: string) => [
      { ...record, action, error_message },
    ];
    const people = peopleOf(named);
    if ('fault' in found) return left('conflict', found.fault);
    if (people.length === 0) return left('conflict', 'person: holds no e-mail address');
    const card = cards.get(found.line ?? 0);
    if (!card) return left('conflict', 'card: is no card of the file, and only those get people');
    if (card.action !== 'create') return left('skip', 'its card is left out');
    const told = [named.get('role_type')?.cell, named.get('role')?.cell].filter(Boolean).join(':');
    const type = staging.ctx.metamodel.cardTypes.get(card.card_type_key)!;
    const role = roleOf(type, told);
    if (role === undefined) {
      const what = told === '' ? 'is missing' : `${quoted(told)} is no role on cards of the type ${type.key}`;
      return left('conflict', `role: ${what}`);
    }
    const { line: _, entity_kind: __, ...place } = record;
    const made = people.flatMap((email): PlacelessRecord[] => {
      const user_id = users.get(email);
      if (user_id && card.holders.some((one) => one.user_id === user_id && one.role === role)) {
        const again = { action: 'skip', error_message: 'told by another row already' } as const;
        return [{ ...place, entity_kind: 'subscription', source_line: card.line, ...again }];
      }
      if (user_id) {
        card.holders.push({ user_id, role });
        added.set(card.line, [...(added.get(card.line) ?? []), { user_id, role }]);
      }
      return holderRecords(staging, card, { role, email, user_id });
    });
    return made.map((one, at) => ({ ...place, ...one, line: at === 0 ? record.line : nextLine(staging) }));
  });
  await sql.raw(
    `update migration_records r
     set refs = jsonb_set(coalesce(r.refs, '{}'), '{holders}', coalesce(r.refs -> 'holders', '[]') || v.holders)
     from jsonb_to_recordset(?::jsonb) as v(line integer, holders jsonb)
     where r.migration_id = ? and r.line = v.line`,
    [JSON.stringify([...added].map(([line, holders]) => ({ line, holders }))), staging.migrationId],
  );
  return records;
}

function nextLine(staging: Staging): number {
  staging.nextLine += 1;
  return staging.nextLine - 1;
}

async function cardRecords(
  { migrationId }: Staging,
  sql: Knex.Transaction,
  rows: readonly SubscriptionRow[],
): Promise<ReadonlyMap<number, CardRecord>> {
  const lines = [...new Set(rows.flatMap(({ found }) => found.line ?? []))];
  const found = await queryRows<CardRecord>(
    sql,
    `select line, source_id, display_name, card_type_key, action, coalesce(refs -> 'holders', '[]') as holders
     from migration_records where migration_id = ? and line = any(?::integer[])`,
    [migrationId, lines],
  );
  return new Map(found.map((card) => [card.line, card]));
}
