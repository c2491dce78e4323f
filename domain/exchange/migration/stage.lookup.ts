import type { Knex } from 'knex';
import { pathKey } from './convert.ts';

/** What a cell's text means: a card of the file, one of the inventory, or neither, and why. */
export type Found =
  | { line: number; card?: undefined }
  | { card: string; line?: undefined }
  | { fault: string; line?: undefined; card?: undefined };

/**
 * Finds the cards of a type that texts mean: by id, by the name with those above it, or by the name where one card alone
 * has it; in the file first, then in the inventory.
 */
export async function lookUp(
  sql: Knex.Transaction,
  migrationId: string,
  type: string,
  texts: Iterable<string>,
): Promise<Map<string, Found>> {
  const wanted = [...new Set(texts)].map((text) => ({ text, path: pathKey(text) }));
  if (wanted.length === 0) return new Map();
  const own = (condition: string, limit: number) =>
    `array(select r.line from migration_records r where r.migration_id = ? and r.entity_kind = 'card'
       and r.card_type_key = ? and ${condition} order by r.line limit ${limit})`;
  const stored = (condition: string) =>
    `array(select c.id from cards c where c.type = ? and ${condition} order by c.id limit 2)`;
  const mine = [migrationId, type];
  const { rows } = await sql.raw(
    `select t.text,
       -- of doubled rows the first one counts
       ${own('lower(r.source_id) = lower(t.text)', 1)} as by_id,
       ${own('r.path = t.path', 2)} as by_path,
       ${own('lower(r.display_name) = lower(t.text)', 2)} as by_name,
       ${stored('c.external_id = t.text')} as card_by_id,
       ${stored(`c.name_key = fold(t.text) and c.status = 'ACTIVE'`)} as card_by_name
     from jsonb_to_recordset(?::jsonb) as t(text text, path text)`,
    [...mine, ...mine, ...mine, type, type, JSON.stringify(wanted)],
  );
  return new Map(rows.map((row: LookedUp) => [row.text, meant(row, type)]));
}

interface LookedUp {
  text: string;
  by_id: number[];
  by_path: number[];
  by_name: number[];
  card_by_id: string[];
  card_by_name: string[];
}

function meant({ by_id, by_path, by_name, card_by_id, card_by_name }: LookedUp, type: string): Found {
  for (const lines of [by_id, by_path, by_name]) {
    if (lines.length === 1) return { line: lines[0]! };
    if (lines.length > 1) return { fault: `several ${type} rows are called so; their ids tell them apart` };
  }
  for (const cards of [card_by_id, card_by_name]) {
    if (cards.length === 1) return { card: cards[0]! };
    if (cards.length > 1) return { fault: `several ${type} cards are called so` };
  }
  return { fault: `there is no such ${type}, neither in the file nor in the inventory` };
}
