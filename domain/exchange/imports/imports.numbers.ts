import { embed, query, type Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { cardNumberKey } from '../../inventory/cards/rules/numbers.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { CardColumn, CostColumn, FlowColumn, RelationColumn } from '../../kernel/transfer/columns.ts';
import type { ImportRow } from './imports.row.ts';

/** The members with a card's number, and those with the id of the same card. */
const idOfNumber = {
  number: 'id',
  parent_number: 'parent_id',
  source_number: 'source_id',
  target_number: 'target_id',
  card_number: 'card_id',
  interface_number: 'interface_id',
} as const satisfies Partial<Record<CardColumn | RelationColumn | CostColumn | FlowColumn, string>>;

const members = Object.entries(idOfNumber);

/**
 * Adds the ids of the cards that rows name by their numbers; a row with an id as well must name the same card by both.
 * Only the number of a visible card is known.
 */
export async function resolveNumbers(ctx: Ctx, sql: Sql, rows: readonly ImportRow[]): Promise<void> {
  const named = rows.flatMap((row) => {
    const values = row.values as Record<string, unknown>;
    return members.flatMap(([field, idField]) =>
      values[field] === undefined
        ? []
        : { row, values, field, idField, key: cardNumberKey(String(values[field]))! },
    );
  });
  if (named.length === 0) return;
  const keys = named.map(({ key }) => key);
  const ids = named.flatMap(({ values, idField }) => values[idField] ?? []);
  const found = await query(sql).rows<{
    id: string;
    key: string;
  }>`select c.id, card_number_key(c.number) as key
    from cards c
    where (card_number_key(c.number) = any(${keys}::text[]) or c.id = any(${ids}::uuid[]))
      and (${embed(visibleCards(ctx))})`;
  const byKey = new Map(found.map(({ id, key }) => [key, id]));
  const byId = new Map(found.map(({ id, key }) => [id, key]));
  for (const { row, values, field, idField, key } of named) {
    const id = values[idField];
    if (typeof id === 'string') {
      const other = byId.get(id);
      if (other === undefined || other === key) continue;
      row.errors.push({
        field,
        code: 'other_number',
        message: `is not the number of the card in ${idField}`,
      });
    } else if (byKey.has(key)) values[idField] = byKey.get(key);
    else {
      const hint = field === 'number' ? '; leave it out to create a card, which gets its own' : '';
      row.errors.push({ field, code: 'unknown_number', message: `is the number of no card${hint}` });
    }
  }
}
