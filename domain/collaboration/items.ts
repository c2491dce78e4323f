import type { Knex } from 'knex';
import { query, type Sql } from '../../platform/database.ts';
import { invalidField } from '../../platform/errors.ts';
import { lockActiveUsers } from '../access/users.store.ts';
import type { JsonText } from '../kernel/lists/lists.types.ts';

/** An object that a command has written, as its JSON text. */
export interface WrittenItem {
  id: string;
  text: JsonText;
}

/** An id for a row that refers to itself. */
export const newId = (sql: Sql): Promise<string> => query(sql).value`select uuidv7()`;

/**
 * A user whom a row will name.
 * @throws EstateError `validation_failed` naming the field for an unknown or deactivated user.
 */
export async function requireActiveUser(
  sql: Knex.Transaction,
  id: string,
  field: string,
): Promise<{ id: string; display_name: string }> {
  const [user] = (await lockActiveUsers(sql, [id])).values();
  if (!user) throw invalidField(field, 'unknown_user', 'is not an active user');
  return user;
}
