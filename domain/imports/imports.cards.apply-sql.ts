import type { Knex } from 'knex';
import type { FieldError } from '../../platform/errors.ts';
import type { StoredCard } from '../cards/cards.load.ts';
import type { Ctx } from '../context.ts';
import { siblingOf } from './imports.cards.plan-parents.ts';

/** Writes new cards in one statement. */
export async function insertCards(sql: Knex.Transaction, ctx: Ctx, cards: StoredCard[]): Promise<void> {
  if (cards.length === 0) return;
  await sql.raw(
    `insert into cards (id, type, subtype, name, alias, description, parent_id, lifecycle, attributes, status,
       approval_status, data_quality, external_id, archived_at, archive_batch_id, created_by, updated_by)
     select v.id, v.type, v.subtype, v.name, v.alias, v.description, v.parent_id, v.lifecycle, v.attributes, v.status,
       v.approval_status, v.data_quality, v.external_id, v.archived_at, v.archive_batch_id, ?::uuid, ?::uuid
     from jsonb_to_recordset(?::jsonb) as v(id uuid, type text, subtype text, name text, alias text, description text,
       parent_id uuid, lifecycle jsonb, attributes jsonb, status text, approval_status text, data_quality numeric,
       external_id text, archived_at timestamptz, archive_batch_id uuid)`,
    [ctx.caller.userId, ctx.caller.userId, JSON.stringify(cards)] as never,
  );
}

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

/** Of cards just placed, those that cannot lie there, by id. `moved` are those that had another place before. */
export async function misplacedCards(
  sql: Knex.Transaction,
  placed: string[],
  moved: string[],
  leveled: string[],
): Promise<Map<string, Omit<FieldError, 'field'>>> {
  const { rows } = await sql.raw(
    `with recursive above as (
       select c.id as start, c.parent_id as at from cards c where c.id = any(?::uuid[])
       union
       select a.start, c.parent_id from above a join cards c on c.id = a.at where a.at <> a.start
     )
     select start as id, 'parent_cycle' as code, 'would lie below itself' as message from above where at = start
     union all
     select c.id, f.code, f.message
     from cards c left join cards p on p.id = c.parent_id
     cross join lateral (
       select 'unknown_parent' as code, 'was deleted meanwhile' as message
       where c.parent_id is not null and p.id is null
       union all
       select 'parent_archived', 'is archived' where c.status = 'ACTIVE' and p.status = 'ARCHIVED'
       union all
       select 'children_present', 'the card has active children'
       where c.status = 'ARCHIVED'
         and exists (select from cards k where k.parent_id = c.id and k.status = 'ACTIVE')
     ) f
     where c.id = any(?::uuid[])
     union all
     select w.start, 'conflict', 'the parent was moved meanwhile'
     from (
       with recursive walk as (
         select c.id as start, c.parent_id as at, c.attributes ->> 'capabilityLevel' as own,
           c.attributes ->> 'capabilityLevel' as top, 1 as depth
         from cards c where c.id = any(?::uuid[]) and c.type = any(?::text[])
         union all
         select w.start, c.parent_id, w.own, c.attributes ->> 'capabilityLevel', w.depth + 1
         from walk w join cards c on c.id = w.at where w.depth < 100
       ) select * from walk where at is null
     ) w
     where w.depth > 1 and w.own is distinct from 'L' || (case w.top when 'Macro' then w.depth - 1 else w.depth end)`,
    [moved, placed, placed, leveled] as never,
  );
  return new Map(rows.map(({ id, ...fault }: FieldError & { id: string }) => [id, fault]));
}
