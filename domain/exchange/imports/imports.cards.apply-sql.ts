import type { Knex } from 'knex';
import type { FieldError } from '../../../platform/errors.ts';
import type { StoredCard } from '../../inventory/cards/cards.load.ts';
import { siblingOf } from '../../inventory/cards/cards.unique.ts';

/** The rows whose id, external id or name another card has by now, by line. */
export async function findTaken(
  sql: Knex.Transaction,
  cards: (StoredCard & { line: number; is_new: boolean })[],
): Promise<Map<number, FieldError>> {
  const { rows } = await sql.raw(
    `with v as (
       select * from jsonb_to_recordset(?::jsonb)
         as v(line integer, is_new boolean, id uuid, type text, parent_id uuid, name text, external_id text, status text)
     )
     select v.line, 'id' as field, 'id_taken' as code, 'is a card already' as message
     from v join cards o on v.is_new and o.id = v.id
     union all
     select v.line, 'external_id', 'external_id_taken', 'the card ' || o.id || ' of this type has it already'
     from v join cards o on o.type = v.type and o.external_id = v.external_id and o.id <> v.id
     union all
     select v.line, 'name', 'sibling_name_taken', 'the card ' || o.id || ' below the same parent has it already'
     from v join cards o on v.status = 'ACTIVE' and o.id <> v.id
       and ${siblingOf('v.type', 'v.parent_id', 'lower(v.name)')}`,
    [JSON.stringify(cards)],
  );
  return new Map(rows.map(({ line, ...fault }: FieldError & { line: number }) => [line, fault]));
}

/** The levels of the capabilities below moved ones, where they must change. */
export async function levelsToFollow(
  sql: Knex.Transaction,
  moved: { id: string; level: string }[],
): Promise<Map<string, string>> {
  const { rows } = await sql.raw(
    `with recursive below as (
       select c.id, case v.level when 'Macro' then 0 else substr(v.level, 2)::int end + 1 as level
       from jsonb_to_recordset(?::jsonb) as v(id uuid, level text) join cards c on c.parent_id = v.id
       union
       select c.id, b.level + 1 from below b join cards c on c.parent_id = b.id where b.level < 100
     )
     select distinct b.id, 'L' || b.level as level from below b join cards c on c.id = b.id
     where c.attributes ->> 'capabilityLevel' is distinct from 'L' || b.level`,
    [JSON.stringify(moved)],
  );
  return new Map(rows.map((row: { id: string; level: string }) => [row.id, row.level]));
}

/** Of archived cards, those that have active children. */
export async function findAbandoning(sql: Knex.Transaction, archived: string[]): Promise<Set<string>> {
  const { rows } = await sql.raw(
    `select distinct parent_id as id from cards where parent_id = any(?::uuid[]) and status = 'ACTIVE'`,
    [archived],
  );
  return new Set(rows.map((row: { id: string }) => row.id));
}
