import type { Knex } from 'knex';
import { literal } from './as-of.events.ts';

/** A table with attributes, the events of its types, and where their changes declare fields, as a JSON path. */
const tables = [
  { table: 'cards', types: 'card_type', fields: '$.changes.fields_schema.old[*].fields[*]' },
  { table: 'relations', types: 'relation_type', fields: '$.changes.attributes_schema.old[*]' },
] as const;

/**
 * Takes the values of fields that were costs once from the cards and relations of the moment, whatever the metamodel says of
 * these fields today: a field that was removed, or made again as a number, is a cost no longer, but its old values are. Fields
 * that are costs today are hidden by the reports themselves. To be called when the tables of the moment stand.
 */
export async function hideFormerCosts(sql: Knex.Transaction): Promise<void> {
  for (const { table, types, fields } of tables) {
    const { rows } = await sql.raw(
      `select e.data ->> 'key' as type, array_agg(distinct f #>> '{}') as keys
       from public.events e, jsonb_path_query(e.data, '${fields} \\? (@.type == "cost").key') f
       where e.event_type in ('${types}.updated', '${types}.deleted') group by 1 order by 1`,
    );
    if (rows.length === 0) continue;
    const { rows: found } = await sql.raw(
      `select a.attname as name from pg_attribute a
       where a.attrelid = to_regclass('pg_temp.${table}') and a.attnum > 0 order by a.attnum`,
    );
    const columns: string[] = found.map(({ name }: { name: string }) => name);
    if (!columns.includes('attributes')) continue;
    const attributes = columns.includes('type')
      ? `case type ${rows.map((row: FormerCosts) => `when ${literal(row.type)} then attributes - ${keysOf([row])}`).join(' ')} else attributes end`
      : `attributes - ${keysOf(rows)}`;
    await sql.raw(
      `alter view pg_temp.${table} rename to ${table}_with_former_costs;
       create temporary view ${table} as
       select ${columns.map((name) => (name === 'attributes' ? `${attributes} as attributes` : name)).join(', ')}
       from pg_temp.${table}_with_former_costs`.replaceAll('?', '\\?'),
    );
  }
}

interface FormerCosts {
  type: string;
  keys: string[];
}

const keysOf = (rows: FormerCosts[]): string =>
  `array[${rows
    .flatMap(({ keys }) => keys)
    .map(literal)
    .join(', ')}]::text[]`;
