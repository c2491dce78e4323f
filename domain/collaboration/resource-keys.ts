import type { Transaction } from '../../platform/database.ts';
import { invalidField } from '../../platform/errors.ts';

/** @throws EstateError `validation_failed` naming the field unless the key is an enabled one of its kind. */
export async function requireResourceKey(
  sql: Transaction,
  kind: 'link_type' | 'file_category',
  key: string,
  field: string,
): Promise<void> {
  const keys: string[] = await sql('resource_types')
    .where({ kind, is_enabled: true })
    .orderBy(['sort_order', 'key'])
    .pluck('key');
  if (!keys.includes(key)) throw invalidField(field, 'unknown_value', `is none of ${keys.join(', ')}`);
}
