import type { Knex } from 'knex';
import { literal } from './past.events.ts';
import { tellsOf } from './past.kept.ts';
import { columnsRead, fewFields, fieldColumn, isRead, type Reads } from './past.reads.ts';
import { type KeptApart, type PastTable, pastTables, type TouchedTable } from './past.tables.ts';

interface Column {
  table: string;
  name: string;
  type: string;
}

/** Which columns are computed from others, over the alias of the old values. */
const derived: Record<string, Record<string, (name: (column: string) => string) => string>> = {
  cards: { name_key: (column) => `fold(${column('name')})` },
};

/** A row gets its time before its event does, in the same transaction, which takes no longer than this. */
const IN_DOUBT_MS = 5 * 60_000;

/**
 * Puts temporary views of the same names before the tables, which PostgreSQL looks into first: each shows the table's
 * rows that were not written since, and the old rows of those that were. Columns that nobody asks for cost nothing.
 */
export async function shadowTables(
  sql: Knex.Transaction,
  touched: TouchedTable[],
  position: number,
  asOf: Date,
  reads?: Reads,
): Promise<void> {
  const names = touched.flatMap(({ table }) => (table === 'card_tags' ? [] : [table.table]));
  const { rows } = await sql.raw(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relname = any(?::text[]) and a.attnum > 0
       and not a.attisdropped
     order by a.attrelid, a.attnum`,
    [names],
  );
  const columns: Column[] = rows;
  const untouchedUntil = new Date(asOf.getTime() - IN_DOUBT_MS);
  const views = touched.map((one) =>
    one.table === 'card_tags'
      ? tagLinks(one)
      : viewOf(
          one.table,
          one,
          columns.filter(({ table }) => table === (one.table as PastTable).table),
          reads,
          position,
          untouchedUntil,
        ),
  );
  const at = `'${asOf.toISOString()}'::timestamptz`;
  // what was not gathered has no columns: whoever reads it shall fail and not see it as it is now
  const unread = [...pastTables, 'card_tags' as const].filter((table) => !isRead(table, reads));
  views.push(
    ...unread.map((one) => `create temporary view ${one === 'card_tags' ? one : one.table} as select`),
    `create temporary view events as select * from public.events where position <= ${position}`,
    `create temporary view kpi_snapshots as select * from public.kpi_snapshots where slot <= ${at}`,
  );
  await sql.raw(views.join(';\n').replaceAll('?', '\\?'));
}

/** Where a gathered row, `k`, tells the first old values of its fields, as SQL. */
interface Told {
  /** Whether it tells of a field; null for no. */
  changed(field: string): string;
  changedAny(fields: string[]): string;
  /** As JSON; null for a field that it does not tell of. */
  old(field: string): string;
  /** The same, as a value of a column's type. */
  value(field: string, column: Column): string;
  /** The old values of a column of named values, by name, null where there was none. */
  valuesBefore(column: string): string;
}

/** One column for all; in the query itself, since calling a function for each row takes several times as long. */
const toldTogether: Told = {
  changed: (field) => `k.changes ? ${literal(field)}`,
  changedAny: (fields) => `k.changes ?| array[${fields.map(literal).join(', ')}]`,
  old: (field) => `k.changes -> ${literal(field)} -> 'old'`,
  value: (field, column) => cast(`k.changes -> ${literal(field)}`, 'old', column),
  valuesBefore: (column) => `(select jsonb_object_agg(substr(f.key, ${column.length + 2}), f.value -> 'old')
    from jsonb_each(k.changes) f where starts_with(f.key, '${column}.'))`,
};

/** A column for each of a few fields. */
const toldSingly = (known: readonly string[]): Told => {
  const change = (field: string) => `k.${fieldColumn(field)}`;
  const changed = (field: string) => `${change(field)} is not null`;
  const old = (field: string) => `${change(field)} -> 'old'`;
  return {
    changed,
    changedAny: (fields) => fields.map(changed).join(' or '),
    old,
    value: (field, column) => cast(change(field), 'old', column),
    valuesBefore: (column) => namedOf(known, column, old),
  };
};

/** Old values that are kept: columns, and one for fields that may be empty. */
const toldOfKept = ({ plain, optional }: KeptApart): Told => {
  const old = (field: string) => `k.optional -> ${literal(field)}`;
  return {
    changed: (field) => (plain.includes(field) ? `k.${field} is not null` : `k.optional ? ${literal(field)}`),
    changedAny: (fields) => `k.optional ?| array[${fields.map(literal).join(', ')}]`,
    old,
    value: (field, column) => (plain.includes(field) ? `k.${field}` : cast('k.optional', field, column)),
    valuesBefore: (column) => namedOf(optional, column, old),
  };
};

const toldOfRows = (reads: Reads | undefined): Told => {
  const few = fewFields(reads);
  return few ? toldSingly(few) : toldTogether;
};

/** Those of the fields that are values of a column of named values, as an object by their names. */
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

/** Fields that an expression names one by one; a function takes at most 100 arguments. */
const NAMED = 40;

/** A column of named values as it was, given the fields of it that changed in any row. */
function nestedBefore(told: Told, name: string, changed: string[]): string {
  const present = `coalesce(t.${name}, '{}')`;
  if (changed.length > NAMED) {
    const values = `jsonb_strip_nulls(${present} || ${told.valuesBefore(name)})`;
    return `case when k.id is null then t.${name} else coalesce(${values}, t.${name}) end`;
  }
  const values = changed.map((field) => {
    const key = literal(field.slice(name.length + 1));
    return `${key}, coalesce(${told.old(field)}, t.${name} -> ${key})`;
  });
  return `case when ${told.changedAny(changed)}
    then jsonb_strip_nulls(${present} || jsonb_build_object(${values.join(', ')})) else t.${name} end`;
}

/**
 * What a table held. A column that changed in no row is the table's own, and the join falls away where a query reads
 * only such columns.
 */
function viewOf(
  past: PastTable,
  { number, apart, gone, made, fields }: TouchedTable,
  columns: Column[],
  reads: Reads | undefined,
  position: number,
  untouchedUntil: Date,
): string {
  const { table } = past;
  const told = apart ? toldOfKept(apart) : toldOfRows(reads);
  const rows = apart?.rows ?? 'past_rows';
  const its = (row: string) => (apart ? 'true' : `${row}.number = ${number}`);
  const before = (column: Column): string => {
    const name = column.name;
    if (name === 'id') return 't.id';
    if (past.nested.includes(name)) {
      const changed = [...fields].filter((field) => field.startsWith(`${name}.`));
      if (changed.length === 0) return `t.${name}`;
      const found = nestedBefore(told, name, changed);
      return name === 'lifecycle' ? `nullif(${found}, '{}')` : found;
    }
    if (isStamp(table, name)) {
      const untouched = `t.updated_at <= ${literal(untouchedUntil.toISOString())}::timestamptz`;
      return `case when ${untouched} then t.${name} else ${stamp(table, column, position, 't')} end`;
    }
    const source = derived[table]?.[name];
    if (source) {
      if (!fields.has('name')) return `t.${name}`;
      const of = (other: string) => before(columns.find((one) => one.name === other)!);
      return `case when ${told.changed('name')} then ${source(of)} else t.${name} end`;
    }
    if (!fields.has(name)) return `t.${name}`;
    return `case when ${told.changed(name)} then ${told.value(name, column)} else t.${name} end`;
  };
  const lost = (column: Column): string => {
    const name = column.name;
    if (name === 'id') return 'k.id';
    if (past.nested.includes(name)) {
      const values = `jsonb_strip_nulls(${told.valuesBefore(name)})`;
      return name === 'lifecycle' ? `nullif(${values}, '{}')` : `coalesce(${values}, '{}')`;
    }
    if (isStamp(table, name)) return stamp(table, column, position, 'k');
    const source = derived[table]?.[name];
    if (source) return source((other) => lost(columns.find((one) => one.name === other)!));
    const last = cast(apart ? 'd.data' : 'k.told', name, column);
    if (apart && !tellsOf(apart, name)) return last;
    return `case when ${told.changed(name)} then ${told.value(name, column)} else ${last} end`;
  };
  // of the others nothing was gathered: whoever reads one shall fail and not see it as it is now
  const read = columnsRead(past, reads);
  const shown = read ? columns.filter(({ name }) => name === 'id' || read.includes(name)) : columns;
  const select = (value: (column: Column) => string) =>
    shown.map((column) => `${value(column)} as ${column.name}`).join(',\n');
  const present = `select ${select(before)}
    from public.${table} t left join ${rows} k on ${its('k')} and k.id = t.id
    ${made ? `where not exists (select from ${rows} n where ${its('n')} and n.id = t.id and not n.existed)` : ''}`;
  const deletion = apart ? 'join public.events d on d.position = k.last' : '';
  const absent = `select ${select(lost)} from ${rows} k ${deletion} where ${its('k')} and k.gone`;
  return `create temporary view ${table} as ${gone ? `${present} union all ${absent}` : present}`;
}

/** Who changed a row last, and when, is told by no change: the last event before the moment tells it. */
const isStamp = (table: string, column: string): boolean =>
  column === 'updated_at' || (table === 'cards' && column === 'updated_by');

function stamp(table: string, { name, type }: Column, position: number, row: 't' | 'k'): string {
  const fallback = row === 't' ? `t.${name === 'updated_at' ? 'created_at' : 'created_by'}` : `null::${type}`;
  const told = name === 'updated_at' ? 'e.at' : 'e.user_id';
  return `coalesce((select ${told} from public.events e
    where e.data ->> 'id' = ${row}.id::text and e.position <= ${position}
      and e.event_type like '${table === 'cards' ? 'card.' : ''}%' order by e.position desc limit 1), ${fallback})`;
}

/** A tag was on a card when the first that was told of it since is that it was taken off. */
function tagLinks({ number, gone }: TouchedTable): string {
  const present = `select t.* from public.card_tags t
    where not exists (select from past_rows k
      where k.number = ${number} and k.card_id = t.card_id and k.tag_id = t.tag_id and not k.existed)`;
  const absent = `select k.card_id, k.tag_id from past_rows k where k.number = ${number} and k.gone`;
  return `create temporary view card_tags as ${gone ? `${present} union all ${absent}` : present}`;
}
