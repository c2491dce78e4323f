import { embed, query, queryRows, type Transaction } from '../../../platform/database.ts';
import { pathKey } from './convert.ts';
import { quoted } from './convert.values.ts';

/** A card that a record refers to by a text. */
export interface Reference {
  /** Which end of a relation the card is; `source` also for the card of a link or comment, `target` for a parent. */
  side: 'source' | 'target';
  /** The possible card types. */
  types: string[];
  text: string;
  /** What the text is in messages. */
  field: string;
}

/** The card that a text refers to: one of the file by line, one of the inventory by id, or none and why. */
export interface Found {
  line?: number;
  card?: string;
  error?: string;
}

type Wanted = Pick<Reference, 'types' | 'text' | 'field'>;

/**
 * Finds the cards that texts refer to: by id, by the name with the names of all parents, or by the name if it is unique;
 * in the file first, then in the inventory.
 */
export async function lookUpCards(
  sql: Transaction,
  migrationId: string,
  wanted: readonly Wanted[],
): Promise<(reference: Wanted) => Found> {
  const keyOf = (type: string, text: string) => JSON.stringify([type, text]);
  const pairs = new Map(
    wanted.flatMap(({ types, text }) =>
      types.map((type) => [keyOf(type, text), { type, text, path: pathKey(text) }] as const),
    ),
  );
  const own = (condition: string, limit: number) =>
    `array(select r.line from migration_records r where r.migration_id = ? and r.entity_kind = 'card'
       and r.card_type_key = t.type and ${condition} order by r.line limit ${limit})`;
  const stored = (condition: string) =>
    `array(select c.id from cards c where c.type = t.type and ${condition} order by c.id limit 2)`;
  const rows = await queryRows<{ type: string; text: string; lines: number[][]; cards: string[][] }>(
    sql,
    `select t.type, t.text, jsonb_build_array(
       -- of rows with the same id the first one counts
       ${own('lower(r.source_id) = lower(t.text)', 1)},
       ${own(`lower(r.payload ->> 'external_id') = lower(t.text)`, 1)}, ${own('r.path = t.path', 2)},
       ${own('lower(r.display_name) = lower(t.text)', 2)}) as lines,
     jsonb_build_array(${stored('c.external_id = t.text')},
       ${stored(`c.name_key = fold(t.text) and c.status = 'ACTIVE'`)}) as cards
     from jsonb_to_recordset(?::jsonb) as t(type text, text text, path text)`,
    [migrationId, migrationId, migrationId, migrationId, JSON.stringify([...pairs.values()])],
  );
  const found = new Map(rows.map((row) => [keyOf(row.type, row.text), foundIn(row)]));
  return ({ types, text, field }) => {
    const all = types.map((type) => found.get(keyOf(type, text))!);
    const hits = all.filter(({ error }) => error === undefined);
    if (hits.length === 1) return hits[0]!;
    const error =
      hits.length > 1
        ? 'cards of several types have this name; a column has to name the type'
        : (all.find((one) => types.length === 1 || one.error!.startsWith('several'))?.error ??
          'there is no such card, neither in the file nor in the inventory');
    return { error: `${field}: ${quoted(text)}: ${error}` };
  };
}

function foundIn({ type, lines, cards }: { type: string; lines: number[][]; cards: string[][] }): Found {
  const [line, otherLine] = lines.find((found) => found.length > 0) ?? [];
  if (otherLine !== undefined) return { error: `several ${type} rows have this name; use their ids` };
  if (line !== undefined) return { line };
  const [card, otherCard] = cards.find((found) => found.length > 0) ?? [];
  if (otherCard !== undefined) return { error: `several ${type} cards have this name` };
  if (card !== undefined) return { card };
  return { error: `there is no such ${type}, neither in the file nor in the inventory` };
}

/** Stores the cards that records refer to. A record with a reference to no card becomes a conflict. */
export async function resolveReferences(
  sql: Transaction,
  migrationId: string,
  records: { line: number; refs: Reference[] }[],
): Promise<void> {
  const references = records.flatMap(({ refs }) => refs);
  const find = await lookUpCards(sql, migrationId, references);
  const rows = records.map(({ line, refs }) => {
    const ends = refs.map(({ side, ...reference }) => ({ side, ...find(reference) }));
    const errors = ends.flatMap(({ error }) => error ?? []);
    const columns = ends.flatMap((end) => [
      [`${end.side}_line`, end.line],
      [`${end.side}_card`, end.card],
    ]);
    return { line, error: errors.length > 0 ? errors.join('; ') : null, ...Object.fromEntries(columns) };
  });
  await query(sql).run`update migration_records r
     set source_line = coalesce(v.source_line, r.source_line), source_card = v.source_card,
       target_line = coalesce(v.target_line, r.target_line), target_card = v.target_card,
       action = case when v.error is null then r.action else 'conflict' end,
       error_message = case when v.error is null or r.action = 'skip' then coalesce(v.error, r.error_message)
         else concat_ws('; ', v.error, r.error_message) end
     from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as v(line integer, source_line integer,
       source_card uuid, target_line integer, target_card uuid, error text)
     where r.migration_id = ${migrationId} and r.line = v.line`;
}

/**
 * Sets the parents that rows of their own name on cards that name none; the first such row of a card counts. Replies get
 * the card of their comment.
 */
export async function placeRecords(sql: Transaction, migrationId: string): Promise<void> {
  await query(sql).run`update migration_records r
     set action = 'conflict', error_message = 'source: is no card of the file, and only those are moved'
     where r.migration_id = ${migrationId} and r.entity_kind = 'relation' and r.action = 'skip'
       and r.refs is not null and r.source_line is null`;
  await query(sql).run`with named as (
       select line, source_line, target_line, target_card, first_value(line) over same as first,
         coalesce(target_card::text, target_line::text) as parent,
         first_value(coalesce(target_card::text, target_line::text)) over same as first_parent
       from migration_records where migration_id = ${migrationId} and entity_kind = 'relation'
         and action = 'skip' and refs is not null
       window same as (partition by source_line order by line)
     ), refused as (
       update migration_records r
       set action = 'conflict', error_message = 'an earlier row names another parent'
       from named t where r.migration_id = ${migrationId} and r.line = t.line and t.parent <> t.first_parent
     )
     update migration_records c set target_line = t.target_line, target_card = t.target_card
     from named t where c.migration_id = ${migrationId} and c.line = t.source_line and t.line = t.first
       and c.refs is null`;
  await query(sql).run`update migration_records r
     set source_line = c.source_line, source_card = c.source_card
     from migration_records c
     where r.migration_id = ${migrationId} and r.entity_kind = 'comment' and r.refs is null
       and c.migration_id = r.migration_id and c.line = r.target_line`;
}

/** The maximum depth of cards whose parents have no external id. */
const MAX_DEPTH = 50;

/** Writes the parents into the payloads of cards: by external id, by id, or by path if the parent has no id. */
export async function nameParents(sql: Transaction, migrationId: string): Promise<void> {
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
