import type { Knex } from 'knex';
import { queryRows } from '../../../platform/database.ts';
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
export async function lookUpAll(
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
