import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { itemsOf } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListSpec } from '../../kernel/lists/lists.types.ts';

/** Conditions that SQL expressions have the given values; those with the value undefined are omitted. */
export const equalTo = (values: Readonly<Record<string, unknown>>): Condition[] =>
  Object.entries(values).flatMap(([sql, value]) =>
    value === undefined ? [] : [{ sql: `${sql} = ?`, bindings: [value] }],
  );

/** One item of a list with all members. @throws EstateError `not_found`. */
export async function readItem(
  sql: Sql,
  spec: ListSpec,
  name: string,
  id: string,
  where: Condition[] = [],
): Promise<JsonText> {
  const [item] = await itemsOf({ sql, spec, where, item: projection(spec.members, undefined) }, [
    id.toLowerCase(),
  ]);
  if (item === undefined) throw notFound(name, id);
  return item;
}
