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

/** The members with a card's external id, and those with the id of the same card. */
const idOfExternal = {
  parent_external_id: 'parent_id',
  source_external_id: 'source_id',
  target_external_id: 'target_id',
  card_external_id: 'card_id',
  interface_external_id: 'interface_id',
} as const satisfies Partial<Record<CardColumn | RelationColumn | CostColumn | FlowColumn, string>>;

/**
 * Refuses rows that name a card by an id and by the external id of another: whoever changed only one of both columns would not
 * see that the other decides.
 */
export async function refuseOtherExternalIds(ctx: Ctx, sql: Sql, rows: readonly ImportRow[]): Promise<void> {
  const named = rows.flatMap((row) => {
    const values = row.values as Record<string, unknown>;
    return Object.entries(idOfExternal).flatMap(([field, idField]) => {
      const [external, id] = [values[field], values[idField]];
      return typeof external === 'string' && typeof id === 'string'
        ? [{ row, field, idField, external, id }]
        : [];
    });
  });
  if (named.length === 0) return;
  const ids = [...new Set(named.map(({ id }) => id))];
  const found = await query(sql).rows<{ id: string; external_id: string | null }>`select c.id, c.external_id
    from cards c where c.id = any(${ids}::uuid[]) and (${embed(visibleCards(ctx))})`;
  const byId = new Map(found.map(({ id, external_id }) => [id, external_id]));
  for (const { row, field, idField, external, id } of named) {
    const own = byId.get(id);
    if (own === undefined || own === external.trim()) continue;
    const message = `is not the external id of the card in ${idField}: leave one of both empty`;
    row.errors.push({ field, code: 'other_external_id', message });
  }
}
