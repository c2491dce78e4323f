import type { Knex } from 'knex';
import { embed, query, queryRows } from '../../../platform/database.ts';
import { pathKey } from './convert.ts';

/** The card that a text refers to: one of the file by line, one of the inventory by id, or none and why. */
export interface Found {
  line?: number;
  card?: string;
  error?: string;
}

/** References to cards, each by its text and the card type. */
export type Lookup = (type: string, text: string) => Found;

/** Looks up references to cards in as few statements as there are types. */
export async function lookUpCards(
  sql: Knex.Transaction,
  migrationId: string,
  wanted: Iterable<{ type: string; text: string }>,
): Promise<Lookup> {
  const found = new Map<string, Map<string, Found>>();
  for (const [type, references] of Map.groupBy(wanted, ({ type }) => type)) {
    const texts = references.map(({ text }) => text);
    found.set(type, await lookUp(sql, migrationId, type, texts));
  }
  return (type, text) => found.get(type)!.get(text)!;
}

/**
 * Finds the cards of a type that texts refer to: by id, by the name with the names of all parents, or by the name if it is
 * unique; in the file first, then in the inventory.
 */
async function lookUp(
  sql: Knex.Transaction,
  migrationId: string,
  type: string,
  texts: string[],
): Promise<Map<string, Found>> {
  const wanted = [...new Set(texts)].map((text) => ({ text, path: pathKey(text) }));
  const own = (condition: string, limit: number) =>
    `array(select r.line from migration_records r where r.migration_id = ? and r.entity_kind = 'card'
       and r.card_type_key = ? and ${condition} order by r.line limit ${limit})`;
  const stored = (condition: string) =>
    `array(select c.id from cards c where c.type = ? and ${condition} order by c.id limit 2)`;
  const mine = [migrationId, type];
  const rows = await queryRows<{ text: string; lines: number[][]; cards: string[][] }>(
    sql,
    `select t.text, jsonb_build_array(
       -- of rows with the same id the first one counts
       ${own('lower(r.source_id) = lower(t.text)', 1)}, ${own('r.path = t.path', 2)},
       ${own('lower(r.display_name) = lower(t.text)', 2)}) as lines,
     jsonb_build_array(${stored('c.external_id = t.text')},
       ${stored(`c.name_key = fold(t.text) and c.status = 'ACTIVE'`)}) as cards
     from jsonb_to_recordset(?::jsonb) as t(text text, path text)`,
    [...mine, ...mine, ...mine, type, type, JSON.stringify(wanted)],
  );
  return new Map(
    rows.map(({ text, lines, cards }): [string, Found] => {
      const [line, otherLine] = lines.find((found) => found.length > 0) ?? [];
      if (otherLine !== undefined)
        return [text, { error: `several ${type} rows have this name; use their ids` }];
      if (line !== undefined) return [text, { line }];
      const [card, otherCard] = cards.find((found) => found.length > 0) ?? [];
      if (otherCard !== undefined) return [text, { error: `several ${type} cards have this name` }];
      if (card !== undefined) return [text, { card }];
      return [text, { error: `there is no such ${type}, neither in the file nor in the inventory` }];
    }),
  );
}

/** Two ends of a relation, or the card of an attachment as `source`, as columns of a record. */
export const endColumns = (source: Found, target: Found = {}) => ({
  source_line: source.line ?? null,
  source_card: source.card ?? null,
  target_line: target.line ?? null,
  target_card: target.card ?? null,
});

/** The maximum depth of cards whose parents have no external id. */
const MAX_DEPTH = 50;

/** Sets the parents that rows of their own name on cards that name none; the first such row of a card counts. */
export async function placeChildren(sql: Knex.Transaction, migrationId: string): Promise<void> {
  await query(sql).run`with named as (
       select line, source_line, payload ->> 'parent' as parent,
         first_value(payload ->> 'parent') over (partition by source_line order by line) as first
       from migration_records where migration_id = ${migrationId} and entity_kind = 'relation'
       and payload -> 'parent' is not null
     ), refused as (
       update migration_records r
       set action = 'conflict', error_message = 'an earlier row names another parent'
       from named t where r.migration_id = ${migrationId} and r.line = t.line and t.parent <> t.first
     )
     update migration_records c set refs = coalesce(c.refs, '{}') || jsonb_build_object('parent', t.first)
     from named t where c.migration_id = ${migrationId} and c.line = t.source_line and t.parent = t.first
       and c.refs ->> 'parent' is null`;
}

/** Looks up the parents of cards. A card whose parent is not found becomes a conflict. */
export async function findParents(
  sql: Knex.Transaction,
  migrationId: string,
  children: { line: number; type: string; parent: string }[],
): Promise<void> {
  const lookup = await lookUpCards(
    sql,
    migrationId,
    children.map(({ type, parent }) => ({ type, text: parent })),
  );
  const rows = children.map(({ line, type, parent }) => {
    const found = lookup(type, parent);
    const error = found.error && `parent: “${parent.slice(0, 200)}”: ${found.error}`;
    return { line, target_line: found.line, target_card: found.card, error };
  });
  await query(sql).run`update migration_records r
    set target_line = v.target_line, target_card = v.target_card,
       action = case when v.error is null then r.action else 'conflict' end,
       error_message = coalesce(v.error, r.error_message)
     from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as v(line integer, target_line integer,
     target_card uuid, error text)
     where r.migration_id = ${migrationId} and r.line = v.line`;
}

/** Writes the parents into the payloads of cards: by external id, by id, or by path if the parent has no id. */
export async function nameParents(sql: Knex.Transaction, migrationId: string): Promise<void> {
  await query(sql).run`update migration_records r set payload = r.payload || case
         when r.target_card is not null then jsonb_build_object('parent_id', r.target_card)
         else jsonb_build_object('parent_external_id', p.payload ->> 'external_id') end
     from migration_records c left join migration_records p on p.migration_id = c.migration_id
     and p.line = c.target_line
     where c.migration_id = ${migrationId} and c.entity_kind = 'card' and r.migration_id = c.migration_id
     and r.line = c.line
       and (c.target_card is not null or p.payload ->> 'external_id' is not null)`;
  await query(sql).run`with recursive up as (
       select r.line as child, p.line, p.target_line, array[p.payload ->> 'name'] as names, 1 as depth
       from migration_records r join migration_records p on p.migration_id = r.migration_id
       and p.line = r.target_line
       where r.migration_id = ${migrationId} and r.entity_kind = 'card' and r.payload is not null
         and p.payload ->> 'external_id' is null
       union all
       select u.child, p.line, p.target_line, (p.payload ->> 'name') || u.names, u.depth + 1
       from up u join migration_records p on p.migration_id = ${migrationId} and p.line = u.target_line
       where u.depth < ${embed(MAX_DEPTH)}
     ), whole as (select distinct on (child) child, names from up order by child, depth desc)
     update migration_records r set payload = r.payload || jsonb_build_object('parent_path', to_jsonb(names))
     from whole w where r.migration_id = ${migrationId} and r.line = w.child`;
}
