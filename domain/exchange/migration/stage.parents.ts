import type { Knex } from 'knex';
import { type Found, lookUp } from './stage.lookup.ts';

/** The deepest place of a card whose parents are named by nothing but their names. */
const MAX_DEPTH = 50;

interface Child {
  line: number;
  type: string;
  parent: string;
}

/** Puts the parents that rows of their own tell beside the cards that name none; of several rows the first counts. */
export async function placeChildren(sql: Knex.Transaction, migrationId: string): Promise<void> {
  await sql.raw(
    `with told as (
       select line, source_line, payload ->> 'parent' as parent,
         first_value(payload ->> 'parent') over (partition by source_line order by line) as first
       from migration_records where migration_id = ? and entity_kind = 'relation' and payload -> 'parent' is not null
     ), refused as (
       update migration_records r set action = 'conflict', error_message = 'another row puts the card below another one'
       from told t where r.migration_id = ? and r.line = t.line and t.parent <> t.first
     )
     update migration_records c set refs = coalesce(c.refs, '{}') || jsonb_build_object('parent', t.first)
     from told t where c.migration_id = ? and c.line = t.source_line and t.parent = t.first
       and c.refs ->> 'parent' is null`,
    [migrationId, migrationId, migrationId],
  );
}

/** Finds the parents of the cards of some lines, and fails those whose parent is not there. */
export async function findParents(
  sql: Knex.Transaction,
  migrationId: string,
  children: Child[],
): Promise<void> {
  const found = new Map<string, Map<string, Found>>();
  for (const type of new Set(children.map((child) => child.type))) {
    const texts = children.filter((child) => child.type === type).map(({ parent }) => parent);
    found.set(type, await lookUp(sql, migrationId, type, texts));
  }
  const rows = children.map(({ line, type, parent }) => {
    const meant = found.get(type)!.get(parent)!;
    if ('fault' in meant) return { line, fault: `parent: “${parent.slice(0, 200)}”: ${meant.fault}` };
    return { line, target_line: meant.line ?? null, target_card: meant.card ?? null };
  });
  await sql.raw(
    `update migration_records r set target_line = v.target_line, target_card = v.target_card,
       action = case when v.fault is null then r.action else 'conflict' end,
       error_message = coalesce(v.fault, r.error_message)
     from jsonb_to_recordset(?::jsonb) as v(line integer, target_line integer, target_card uuid, fault text)
     where r.migration_id = ? and r.line = v.line`,
    [JSON.stringify(rows), migrationId],
  );
}

/** The next cards that name a parent, behind the line. */
export async function childrenBehind(
  sql: Knex.Transaction,
  migrationId: string,
  line: number,
  limit: number,
): Promise<Child[]> {
  const { rows } = await sql.raw(
    `select line, card_type_key as type, refs ->> 'parent' as parent from migration_records
     where migration_id = ? and entity_kind = 'card' and line > ? and action = 'create' and refs ->> 'parent' is not null
     order by line limit ${limit}`,
    [migrationId, line],
  );
  return rows;
}

/**
 * Puts the parents that were found into the rows of their children: by external id, by id, or by the names down to them
 * where they have no id of their own.
 */
export async function nameParents(sql: Knex.Transaction, migrationId: string): Promise<void> {
  await sql.raw(
    `update migration_records r set payload = r.payload || case
         when r.target_card is not null then jsonb_build_object('parent_id', r.target_card)
         else jsonb_build_object('parent_external_id', p.payload ->> 'external_id') end
     from migration_records c left join migration_records p on p.migration_id = c.migration_id and p.line = c.target_line
     where c.migration_id = ? and c.entity_kind = 'card' and r.migration_id = c.migration_id and r.line = c.line
       and (c.target_card is not null or p.payload ->> 'external_id' is not null)`,
    [migrationId],
  );
  await sql.raw(
    `with recursive up as (
       select r.line as child, p.line, p.target_line, array[p.payload ->> 'name'] as names, 1 as depth
       from migration_records r join migration_records p on p.migration_id = r.migration_id and p.line = r.target_line
       where r.migration_id = ? and r.entity_kind = 'card' and r.payload is not null
         and p.payload ->> 'external_id' is null
       union all
       select u.child, p.line, p.target_line, (p.payload ->> 'name') || u.names, u.depth + 1
       from up u join migration_records p on p.migration_id = ? and p.line = u.target_line where u.depth < ${MAX_DEPTH}
     ), whole as (select distinct on (child) child, names from up order by child, depth desc)
     update migration_records r set payload = r.payload || jsonb_build_object('parent_path', to_jsonb(names))
     from whole w where r.migration_id = ? and r.line = w.child`,
    [migrationId, migrationId, migrationId],
  );
}
