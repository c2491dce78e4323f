import type { Knex } from 'knex';
import { requireActiveUser } from '../../collaboration/items.ts';

/**
 * The user whom a row is newly given to must be active; one who holds it already may have been deactivated since.
 * @throws EstateError `validation_failed` naming the field.
 */
export async function requireAssignable(
  sql: Knex.Transaction,
  values: Record<string, unknown>,
  before: Record<string, unknown> | null,
  field: string,
): Promise<void> {
  const given = values[field];
  if (typeof given !== 'string') return;
  const id = given.toLowerCase();
  values[field] = id;
  if (before?.[field] !== id) await requireActiveUser(sql, id, field);
}
