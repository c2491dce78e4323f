import type { Sql } from '../../../platform/database.ts';
import { attributeOf, type ComparedField } from './duplicates.fields.ts';

/** The fields that have a value in some card of the type; comparing others would take time for nothing. */
export async function valuedFields(
  sql: Sql,
  type: string,
  fields: readonly ComparedField[],
): Promise<ComparedField[]> {
  const { rows } = await sql.raw(
    `select bool_or(alias is not null) as names, bool_or(description is not null) as description,
       bool_or(parent_id is not null) as parent, bool_or(subtype is not null) as subtype,
       array(select distinct k from cards c, jsonb_object_keys(c.attributes) k
         where c.type = ? and c.status = 'ACTIVE') as keys
     from cards where type = ? and status = 'ACTIVE'`,
    [type, type],
  );
  const { keys, ...columns } = rows[0] as { keys: string[] } & Record<string, boolean | null>;
  return fields.filter(({ name }) => {
    const key = attributeOf(name);
    if (key !== undefined) return keys.includes(key);
    return name in columns ? columns[name] === true : true;
  });
}
