import { embed, query } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';

/**
 * Deletes the rows of `table` that refer to one of the cards by `column`.
 * @returns the deleted rows in the order of their ids.
 */
export async function deleteRowsOfCards<T>(
  work: Work,
  table: string,
  cardIds: readonly string[],
  column = 'card_id',
): Promise<T[]> {
  return await query(work.sql).column<T>`with deleted as (delete from ${embed(table)} t
    where t.${embed(column)} = any(${cardIds}::uuid[]) returning t.id, to_jsonb(t) as row)
     select row from deleted order by id`;
}
