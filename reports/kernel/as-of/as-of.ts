import type { Knex } from 'knex';
import { feedEnds } from '../../../domain/kernel/events/changes.ts';
import { type Db, PATIENT_READER } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { type AsOfScope, literal } from './as-of.events.ts';
import { collectTouched } from './as-of.rows.ts';
import { shadowRowwise } from './as-of.rowwise.ts';
import { shadowTables } from './as-of.views.ts';

/** Longer than a transaction may hold the feed's lock. */
const SETTLED_MS = 5 * 60_000;

/**
 * Runs `read` in a transaction in which the inventory stands as it was at `asOf`: whatever it reads of the tables of
 * {@link asOfTables}, of `card_tags`, `events` and `kpi_snapshots` is what was stored then. The metamodel, users and settings
 * are today's. Everything must be read through `sql`; nothing can be written, and nothing that is kept under present
 * versions may be used. A table is a view there: grouping by a primary key does not cover its other columns.
 *
 * @param scope what is read besides the other tables; the less, the less there is to gather.
 * An event belongs to the moment when its time, as answers show it (in milliseconds), is not later.
 * @throws EstateError `as_of_expired` for a moment before the oldest event kept, `validation_failed` for one to come.
 */
export async function readAsOf<T>(
  db: Db,
  asOf: Date,
  read: (sql: Knex.Transaction) => Promise<T>,
  scope: AsOfScope = {},
): Promise<T> {
  if (Date.now() - asOf.getTime() < SETTLED_MS) {
    // events get their time under the feed's lock: whoever got one up to the moment has committed after this
    await db.raw('select pg_advisory_xact_lock_shared(7203001)');
  }
  const sql = await db.transaction({ isolationLevel: 'repeatable read' });
  try {
    const position = await positionAt(sql, asOf);
    // merging would read the old rows through their index, page by page; they are in no order and their cache is small
    await sql.raw(`set local work_mem = '64MB'; set local enable_mergejoin = off;
      set local parallel_setup_cost = 100; set local parallel_tuple_cost = 0.001; ${PATIENT_READER}`);
    if (await readsFew(sql, scope)) {
      await shadowRowwise(sql, position, asOf);
    } else {
      const touched = await collectTouched(sql, position, scope);
      await shadowTables(sql, touched, position, asOf, scope.reads);
    }
    if (!scope.costs) await hideFormerCosts(sql);
    await sql.raw('set transaction read only');
    return await read(sql);
  } finally {
    // the views and the table of the moment go with it
    await sql.rollback();
  }
}

/** Of so many cards it takes less to find out about each than to gather all that was written since. */
const FEW = 1_000;

async function readsFew(sql: Knex.Transaction, { rowwise, cardTypes, reads }: AsOfScope): Promise<boolean> {
  if (rowwise) return true;
  if (!cardTypes || !reads || reads.relations || reads.others) return false;
  const { rows } = await sql.raw(
    `select count(*)::int as n from (select from cards where type = any(?::text[]) limit ${FEW + 1}) c`,
    [cardTypes],
  );
  return rows[0].n <= FEW;
}

/** The position of the last event up to a moment. */
async function positionAt(sql: Knex.Transaction, asOf: Date): Promise<number> {
  const { purgedThrough } = await feedEnds(sql);
  const { rows } = await sql.raw(
    `select clock_timestamp() < ?::timestamptz as coming,
            (select utc(at) from events where position > ? order by position limit 1) as oldest,
            (select position from events where at < ?::timestamptz + interval '1 millisecond' and position > ?
             order by at desc, position desc limit 1) as position`,
    [asOf, purgedThrough, asOf, purgedThrough],
  );
  const { coming, oldest, position } = rows[0];
  if (coming) throw invalidField('as_of', 'future', 'must not lie in the future');
  if (position === null) {
    const detail =
      oldest === null ? 'No events are kept.' : `Events are kept from ${oldest} on; ask for a moment since.`;
    throw new EstateError('as_of_expired', detail, {
      errors: [{ field: 'as_of', code: 'as_of_expired', message: detail }],
      extra: { oldest },
    });
  }
  return position;
}

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
async function hideFormerCosts(sql: Knex.Transaction): Promise<void> {
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
