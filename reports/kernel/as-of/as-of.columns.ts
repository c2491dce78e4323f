import type { Knex } from 'knex';
import { queryRows } from '../../../platform/database.ts';
import { literal } from './as-of.events.ts';
import type { AsOfTable, OldValuesTable } from './as-of.tables.ts';

/** A column of a table with its SQL type. */
export interface Column {
  table: string;
  name: string;
  type: string;
}

/** The columns of tables, in their order. */
export async function columnsOf(sql: Knex.Transaction, tables: string[]): Promise<Column[]> {
  return await queryRows(
    sql,
    `select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relname = any(?::text[]) and a.attnum > 0
       and not a.attisdropped
     order by a.attrelid, a.attnum`,
    [tables],
  );
}

/** Which columns are computed from others, over the alias of the old values. */
const derived: Record<string, Record<string, (name: (column: string) => string) => string>> = {
  cards: { name_key: (column) => `fold(${column('name')})` },
};

/** The first old values of the fields of a collected row, `k`, as SQL. */
export interface OldValues {
  /** Whether the field changed; null for no. */
  changed(field: string): string;
  changedAny(fields: string[]): string;
  /** As JSON; null for a field that did not change. */
  old(field: string): string;
  /** The old value cast to a column's type. */
  value(field: string, column: Column): string;
  /** The old values of a JSON object column by key, null if there was none. */
  valuesBefore(column: string): string;
}

/** From the column `changes`; inlined, since calling a function for each row takes several times as long. */
export const oldValuesInEvents: OldValues = {
  changed: (field) => `k.changes ? ${literal(field)}`,
  changedAny: (fields) => `k.changes ?| array[${fields.map(literal).join(', ')}]`,
  old: (field) => `k.changes -> ${literal(field)} -> 'old'`,
  value: (field, column) => cast(`k.changes -> ${literal(field)}`, 'old', column),
  valuesBefore: (column) => `(select jsonb_object_agg(substr(f.key, ${column.length + 2}), f.value -> 'old')
    from jsonb_each(k.changes) f where starts_with(f.key, '${column}.'))`,
};

/** From the columns of a table of old values. */
export const oldValuesInTable = ({ plain, optional }: OldValuesTable): OldValues => {
  const old = (field: string) => `k.optional -> ${literal(field)}`;
  return {
    changed: (field) => (plain.includes(field) ? `k.${field} is not null` : `k.optional ? ${literal(field)}`),
    changedAny: (fields) => `k.optional ?| array[${fields.map(literal).join(', ')}]`,
    old,
    value: (field, column) => (plain.includes(field) ? `k.${field}` : cast('k.optional', field, column)),
    valuesBefore: (column) => namedOf(optional, column, old),
  };
};

/** The fields of a JSON object column, as an object by key. */
function namedOf(fields: readonly string[], column: string, value: (field: string) => string): string {
  const values = fields
    .filter((field) => field.startsWith(`${column}.`))
    .map((field) => `${literal(field.slice(column.length + 1))}, ${value(field)}`);
  return `jsonb_build_object(${values.join(', ')})`;
}

/** A member of an object of JSON as a value of a column's type. */
function cast(object: string, member: string, { type }: Column): string {
  const value = `${object} -> '${member}'`;
  if (type === 'jsonb') return `nullif(${value}, 'null')`;
  if (type.endsWith('[]')) {
    const values = `array(select jsonb_array_elements_text(${value}))::${type}`;
    return `case when jsonb_typeof(${value}) = 'array' then ${values} end`;
  }
  return `(${object} ->> '${member}')::${type}`;
}

/** Maximum fields per expression, since a function has at most 100 arguments. */
const NAMED = 40;

/** A JSON object column as of the date, given its fields that changed in any row, if known. */
function nestedBefore(oldValues: OldValues, name: string, changed: string[] | undefined): string {
  const present = `coalesce(t.${name}, '{}')`;
  if (!changed || changed.length > NAMED) {
    const values = `jsonb_strip_nulls(${present} || ${oldValues.valuesBefore(name)})`;
    return `case when k.id is null then t.${name} else coalesce(${values}, t.${name}) end`;
  }
  const values = changed.map((field) => {
    const key = literal(field.slice(name.length + 1));
    return `${key}, coalesce(${oldValues.old(field)}, t.${name} -> ${key})`;
  });
  return `case when ${oldValues.changedAny(changed)}
    then jsonb_strip_nulls(${present} || jsonb_build_object(${values.join(', ')})) else t.${name} end`;
}

/** A row gets its time before its event, in the same transaction; maximum time between the two. */
const IN_DOUBT_MS = 5 * 60_000;
/** A time: rows that were not updated after it were not updated after `asOf`. */
export const settledBefore = (asOf: Date): Date => new Date(asOf.getTime() - IN_DOUBT_MS);

/** The values of columns as of the date, as SQL. */
export interface ColumnSql {
  /** For a row `t` of the table with its collected row `k`. */
  before(column: Column): string;
  /** For a deleted row. */
  lost(column: Column): string;
}

export interface ColumnSource {
  spec: AsOfTable;
  oldValues: OldValues;
  /** Fields that changed in any row; absent: unknown. */
  fields?: ReadonlySet<string>;
  /** Fields that never change. */
  fixed?: readonly string[];
  columns: Column[];
  position: number;
  /** Rows that were not updated after it have their current stamps. */
  unchangedSince: Date;
  /** The column with a deleted row's last values, and whether it contains a column. */
  last: string;
  isLastComplete?(name: string): boolean;
}

/** Reads columns as of the date. A column that changed in no row is read from the table. */
export function columnSql(source: ColumnSource): ColumnSql {
  const {
    spec,
    oldValues,
    fields,
    fixed = [],
    columns,
    position,
    unchangedSince,
    last,
    isLastComplete,
  } = source;
  const { table } = spec;
  const mayChange = (field: string) => (fields ? fields.has(field) : !fixed.includes(field));
  const named = (name: string) => columns.find((one) => one.name === name)!;
  const before = (column: Column): string => {
    const name = column.name;
    if (name === 'id') return 't.id';
    if (spec.nested.includes(name)) {
      const changed = fields && [...fields].filter((field) => field.startsWith(`${name}.`));
      if (changed?.length === 0) return `t.${name}`;
      const found = nestedBefore(oldValues, name, changed);
      return name === 'lifecycle' ? `nullif(${found}, '{}')` : found;
    }
    if (isStamp(table, name)) {
      const untouched = `t.updated_at <= ${literal(unchangedSince.toISOString())}::timestamptz`;
      return `case when ${untouched} then t.${name} else ${stamp(table, column, position, 't')} end`;
    }
    const source = derived[table]?.[name];
    if (source) {
      if (!mayChange('name')) return `t.${name}`;
      return `case when ${oldValues.changed('name')} then ${source((other) => before(named(other)))} else t.${name} end`;
    }
    if (!mayChange(name)) return `t.${name}`;
    return `case when ${oldValues.changed(name)} then ${oldValues.value(name, column)} else t.${name} end`;
  };
  const lost = (column: Column): string => {
    const name = column.name;
    if (name === 'id') return 'k.id';
    if (spec.nested.includes(name)) {
      const values = `jsonb_strip_nulls(${oldValues.valuesBefore(name)})`;
      return name === 'lifecycle' ? `nullif(${values}, '{}')` : `coalesce(${values}, '{}')`;
    }
    if (isStamp(table, name)) return stamp(table, column, position, 'k');
    const source = derived[table]?.[name];
    if (source) return source((other) => lost(named(other)));
    const lastValue = cast(last, name, column);
    if (isLastComplete?.(name)) return lastValue;
    return `case when ${oldValues.changed(name)} then ${oldValues.value(name, column)} else ${lastValue} end`;
  };
  return { before, lost };
}

/** Columns with the author and time of the last change: they come from the last event, not from its changes. */
const isStamp = (table: string, column: string): boolean =>
  column === 'updated_at' || (table === 'cards' && column === 'updated_by');

function stamp(table: string, { name, type }: Column, position: number, row: 't' | 'k'): string {
  const fallback = row === 't' ? `t.${name === 'updated_at' ? 'created_at' : 'created_by'}` : `null::${type}`;
  const column = name === 'updated_at' ? 'e.at' : 'e.user_id';
  return `coalesce((select ${column} from public.events e
    where e.data ->> 'id' = ${row}.id::text and e.position <= ${position}
      and e.event_type like '${table === 'cards' ? 'card.' : ''}%' order by e.position desc limit 1), ${fallback})`;
}
