import type { Knex } from 'knex';
import type { Sql } from '../../platform/database.ts';
import { invalidField } from '../../platform/errors.ts';
import { itemsOf } from '../kernel/lists/lists.run.ts';
import { projection } from '../kernel/lists/lists.sql.ts';
import type { JsonText, ListSpec } from '../kernel/lists/lists.types.ts';

/** What a command that made or changed one thing answers. */
export interface WrittenItem {
  id: string;
  text: JsonText;
}

/** One item of a list as its JSON text, the very text that its ETag is made of; undefined when there is none. */
export async function itemText(sql: Sql, spec: ListSpec, id: string): Promise<JsonText | undefined> {
  const [text] = await itemsOf({ sql, spec, where: [], item: projection(spec.members, undefined) }, [
    id.toLowerCase(),
  ]);
  return text;
}

/**
 * A user to whom something is given.
 * @throws EstateError `validation_failed` naming the field for an unknown or deactivated one.
 */
export async function requireActiveUser(
  sql: Knex.Transaction,
  id: string,
  field: string,
): Promise<{ id: string; display_name: string }> {
  const user = await sql('users').where({ id, is_active: true }).first('id', 'display_name');
  if (!user) throw invalidField(field, 'unknown_user', 'is no active user');
  return user;
}
