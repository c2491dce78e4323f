import type { Knex } from 'knex';
import { feedEnds } from '../../../domain/kernel/events/changes.ts';
import { type Db, READER_IDLE_TIMEOUT } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { type AsOfScope, literal } from './as-of.events.ts';
import { collectTouched } from './as-of.rows.ts';
import { createRowwiseViews } from './as-of.rowwise.ts';
import { createViews } from './as-of.views.ts';

/** Longer than a transaction can hold the feed's lock. */
const SETTLED_MS = 5 * 60_000;

/**
 * Runs `read` in a transaction that has the inventory as of `asOf`: the tables of {@link asOfTables}, `card_tags`,
 * `events` and `kpi_snapshots` have the rows of that time. The metamodel, users and settings are current. Everything must be
 * read through `sql`; nothing can be written, and caches by current versions must not be used. A table is a view there:
 * grouping by a primary key does not cover its other columns. An event is included if its time in milliseconds is not later.
 *
 * @param scope what is read; only that is collected.
 * @throws EstateError `as_of_expired` for a time before the oldest stored event, `validation_failed` for one in the future.
 */
export async function readAsOf<T>(
  db: Db,
  asOf: Date,
  read: (sql: Knex.Transaction) => Promise<T>,
  scope: AsOfScope = {},
): Promise<T> {
  if (Date.now() - asOf.getTime() < SETTLED_MS) {
    // events get their time under the feed's lock: those up to `asOf` are committed after this
    await db.raw('select pg_advisory_xact_lock_shared(7203001)');
  }
  const sql = await db.transaction({ isolationLevel: 'repeatable read' });
  try {
    const position = await positionAt(sql, asOf);
    // a merge join would read the old rows by their index in random order
    await sql.raw(`set local work_mem = '64MB'; set local enable_mergejoin = off;
      set local parallel_setup_cost = 100; set local parallel_tuple_cost = 0.001; ${READER_IDLE_TIMEOUT}`);
    if (await readsFew(sql, scope)) {
      await createRowwiseViews(sql, position, asOf, scope.reads);
    } else {
      await createViews(sql, await collectTouched(sql, position, scope), position, asOf, scope.reads);
    }
    if (!scope.costs) await hideFormerCosts(sql);
    await sql.raw('set transaction read only');
    return await read(sql);
  } finally {
    // the rollback drops the views and tables
    await sql.rollback();
  }
}

/** Up to this number of cards, computing each row is faster than collecting all later writes. */
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

/** The position of the last event up to a time. */
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
  if (coming) throw invalidField('as_of', 'future', 'must not be in the future');
  if (position === null) {
    const detail =
      oldest === null
        ? 'No events are stored.'
        : `Events are stored from ${oldest} on; ask for a later time.`;
    const errors = [{ field: 'as_of', code: 'as_of_expired', message: detail }];
    throw new EstateError('as_of_expired', detail, { errors, extra: { oldest } });
  }
  return position;
}

/** A table with attributes, the events of its types, and where their changes declare fields, as a JSON path. */
const tables = [
  { table: 'cards', types: 'card_type', fields: '$.changes.fields_schema.old[*].fields[*]' },
  { table: 'relations', types: 'relation_type', fields: '$.changes.attributes_schema.old[*]' },
] as const;

/**
 * Removes the values of fields that once were costs from the views of cards and relations: a field that was removed, or
 * created again as a number, has costs among its old values. Fields that are costs today are hidden by the reports.
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
