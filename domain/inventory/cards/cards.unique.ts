import {
  embed,
  query,
  type Sql,
  sqlState,
  type Transaction,
  violatedConstraint,
} from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { CardColumns } from './cards.model.ts';

/** The columns of a card after a write that the unique indexes read. */
type UniqueCard = Pick<CardColumns, 'id' | 'type' | 'parent_id' | 'name' | 'external_id' | 'status'>;

const ROOT = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** SQL of whether the card `o` is an active sibling with the name, in the form of the unique index `cards_sibling_name`. */
export const siblingOf = (type: string, parent: string, lowerName: string): string =>
  `o.type = ${type} and o.status = 'ACTIVE' and coalesce(o.parent_id, ${ROOT}) = coalesce(${parent}, ${ROOT})
   and md5(lower(o.name)) = md5(${lowerName})`;

/**
 * SQL of whether the name of the card `o` excludes a sibling with the name: always, unless the type has `allow_same_name` and both
 * have an external id.
 */
export const nameTaken = (type: string, parent: string, lowerName: string, externalId: string): string =>
  `${siblingOf(type, parent, lowerName)} and (${externalId} is null or o.external_id is null
    or not exists (select from card_types s where s.key = o.type and s.allow_same_name))`;

const indexes = {
  cards_sibling_name: {
    code: 'sibling_name_taken',
    matches: nameTaken('v.type', 'v.parent_id', 'lower(v.name)', 'v.external_id'),
    detail:
      'An active card of this type below the same parent has this name. In types with allow_same_name both can have it if each has an external id.',
  },
  cards_external_id: {
    code: 'external_id_taken',
    matches: 'o.type = v.type and o.external_id = v.external_id',
    detail: 'A card of this type has this external id; archived cards count.',
  },
} as const;

/**
 * Runs the write of the given cards. A violation of the unique indexes, also by a concurrent write, becomes
 * `sibling_name_taken` or `external_id_taken` with the id of the conflicting card.
 */
export async function guardUnique<T>(
  sql: Transaction,
  cards: UniqueCard[],
  write: (sql: Transaction) => Promise<T>,
): Promise<T> {
  try {
    // In a savepoint, so that the conflicting card can still be queried.
    return await sql.transaction(write);
  } catch (error) {
    const index = indexes[violatedConstraint(error) as keyof typeof indexes];
    if (sqlState(error) !== '23505' || !index) throw error;
    // A stored card conflicts, or two of the written cards do.
    const rows = await query(sql).rows`with v as (
         select * from jsonb_to_recordset(${JSON.stringify(cards)}::jsonb)
           as v(id uuid, type text, parent_id uuid, name text, external_id text, status text)
       )
       select v.id as card_id, o.id as existing_id from v join cards o on ${embed(index.matches)}
       where o.id is distinct from v.id and not exists (select from v w where w.id = o.id)
       union all
       select v.id, o.id from v join v o on ${embed(index.matches)} where o.id > v.id
       limit 1`;
    const { card_id = null, existing_id = null } = rows[0] ?? {};
    const extra = cards.length > 1 ? { card_id, existing_id } : { existing_id };
    throw new EstateError(index.code, index.detail, { extra, cause: error });
  }
}

/** The names and external ids of cards that other stored cards have, apart from these cards themselves. */
export async function findCollisions(
  sql: Sql,
  cards: UniqueCard[],
): Promise<{ id: string; index: keyof typeof indexes; existing_id: string }[]> {
  return await query(sql).rows`with v as (
       select * from jsonb_to_recordset(${JSON.stringify(cards)}::jsonb)
         as v(id uuid, type text, parent_id uuid, name text, external_id text, status text)
     )
     select v.id, 'cards_sibling_name' as index, o.id as existing_id from v
       join cards o on ${embed(indexes.cards_sibling_name.matches)}
       where v.status = 'ACTIVE' and not exists (select from v w where w.id = o.id)
     union all
     select v.id, 'cards_external_id', o.id from v join cards o on ${embed(indexes.cards_external_id.matches)}
       where not exists (select from v w where w.id = o.id)`;
}

/** The stored cards that conflict with new ones. */
export interface TakenKeys {
  sibling?: string;
  external_id?: string;
}

/** The new active cards whose name or external id a stored card already has, by their index in the list. */
export async function findTaken(
  sql: Sql,
  cards: Pick<UniqueCard, 'type' | 'parent_id' | 'name' | 'external_id'>[],
): Promise<Map<number, TakenKeys>> {
  const rows = await query(sql).rows`with v as (
       select * from jsonb_to_recordset(${JSON.stringify(cards.map((card, n) => ({ ...card, n })))}::jsonb)
         as v(n integer, type text, parent_id uuid, name text, external_id text)
     )
     -- limited, so that each is looked up by its index: the planner knows nothing of them, and would read all cards
     select v.n, 'sibling' as key, o.id from v
       cross join lateral (select o.id from cards o where ${embed(indexes.cards_sibling_name.matches)}
       limit 1) o
     union all
     select v.n, 'external_id', o.id from v
       cross join lateral (select o.id from cards o where ${embed(indexes.cards_external_id.matches)}
       limit 1) o
     where v.external_id is not null`;
  const taken = new Map<number, TakenKeys>();
  for (const { n, key, id } of rows as { n: number; key: keyof TakenKeys; id: string }[]) {
    taken.set(n, { ...taken.get(n), [key]: id });
  }
  return taken;
}

/** The error for a name or external id that another card has. */
export function takenKeyError(index: keyof typeof indexes, existing_id: string | null): EstateError {
  const { code, detail } = indexes[index];
  return new EstateError(code, detail, { extra: { existing_id } });
}
