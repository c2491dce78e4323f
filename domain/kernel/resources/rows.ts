import { Model, type QueryBuilder, raw } from 'objection';
import Type, { type Static, type TProperties, type TSchema, type TSchemaOptions } from 'typebox';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { StaticOf } from '../shapes.ts';

/**
 * The Objection model of a table, with its columns as TypeBox schemas. Rows are read and written as JSON, in the form
 * of PostgreSQL's `to_jsonb`: timestamps retain their microseconds, and the same value is read, written, recorded in
 * events and undone.
 */
export type RowModel<C extends TProperties = TProperties, R = unknown> = Omit<typeof Model, 'prototype'> & {
  new (): Model & R;
  prototype: Model & R;
  readonly columns: C;
};

/** A row of a model: its columns with their values. */
export type RowOf<M extends { columns: TProperties }> = StaticOf<M['columns']>;

const sqlArrays = new WeakSet<object>();

/** The schema of a column that is an array of PostgreSQL. */
export function SqlArray<T extends TSchema>(items: T, options: TSchemaOptions = {}) {
  const schema = Type.Array(items, options);
  sqlArrays.add(schema);
  return schema;
}

const internals = new WeakSet<object>();

/** The schema of a column that responses do not contain. */
export function Internal<T extends TSchema>(schema: T) {
  const column = Type.Unsafe<Static<T>>(schema) as unknown as T & { '~internal': true };
  internals.add(column);
  if (sqlArrays.has(schema)) sqlArrays.add(column);
  return column;
}

/** The columns without internal ones. */
type Shown<C extends TProperties> = {
  [K in keyof C as C[K] extends { '~internal': true } ? never : K]: C[K];
};

const scalars = ['string', 'integer', 'number', 'boolean', 'null'];

/** Whether a column is of type `jsonb`: its values are objects or arrays, except those of PostgreSQL. */
const isJson = (schema: TSchema & { anyOf?: TSchema[]; type?: string; const?: unknown }): boolean =>
  schema.anyOf?.some(isJson) ??
  !(scalars.includes(schema.type ?? '') || 'const' in schema || sqlArrays.has(schema));

/**
 * Declares the model of a table: `class Risk extends rowModel('risks', {...}) {}`.
 * @param columns all columns of the table; a test compares them with the database.
 */
export function rowModel<C extends TProperties>(table: string, columns: C) {
  const shown = Object.entries(columns).filter(([, schema]) => !internals.has(schema));
  class Row extends Model {
    static override readonly tableName = table;
    static override readonly jsonAttributes = Object.keys(columns).filter((name) => isJson(columns[name]!));
    static readonly columns = columns;
    static readonly shown = { columns: Object.fromEntries(shown) };
  }
  return Row as unknown as RowModel<C, StaticOf<C>> & { readonly shown: { columns: Shown<C> } };
}

/** Some columns of a model, for lists and schemas that show only these. */
export const columnsOf = <C extends TProperties, K extends keyof C & string>(
  { columns }: { columns: C },
  ...names: K[]
): { columns: Pick<C, K> } => ({
  columns: Object.fromEntries(names.map((name) => [name, columns[name]!])) as Pick<C, K>,
});

/** A row as one JSON value. */
const asJson = (table: string) => raw('to_jsonb(??.*) as row', [table]);

/**
 * A query that throws PostgreSQL's own errors with their SQLSTATE, which retries and error handling need; Objection
 * wraps them.
 */
const queryOf = (model: RowModel, sql: Sql) =>
  model.query(sql).onError((error) => {
    throw (error as { nativeError?: unknown }).nativeError ?? error;
  });

const isId = (column: string): boolean => column === 'id' || column.endsWith('_id');

/**
 * Reads and locks one row; undefined if there is none, also if an id is not a UUID.
 * @param where columns with their required values.
 */
export async function lockRow<M extends RowModel>(
  sql: Sql,
  model: M,
  where: Partial<RowOf<M>>,
): Promise<RowOf<M> | undefined> {
  const ids = Object.entries(where).filter(([column]) => isId(column));
  if (ids.some(([, value]) => typeof value === 'string' && !isUuid(value))) return undefined;
  const found = await queryOf(model, sql)
    .select(asJson(model.tableName))
    .findOne(where as object)
    .forUpdate();
  return found && jsonOf<M>(found);
}

/** {@link lockRow} for a row that must exist, whose id is its first condition. @throws EstateError `not_found` naming it as `what`. */
export async function requireRow<M extends RowModel>(
  sql: Sql,
  model: M,
  what: string,
  where: Partial<RowOf<M>>,
): Promise<RowOf<M>> {
  const row = await lockRow(sql, model, where);
  if (!row) throw notFound(what, String(Object.values(where)[0]));
  return row;
}

/** Inserts a row; omitted columns get their defaults. @returns the complete row. */
export async function insertRow<M extends RowModel>(
  sql: Sql,
  model: M,
  values: Partial<RowOf<M>>,
): Promise<RowOf<M>> {
  const inserted = await queryOf(model, sql)
    .insert(values as object)
    .returning(asJson(model.tableName));
  return jsonOf<M>(inserted);
}

/** Updates the row with this key, and its `updated_at` if it has one. @returns the complete row. */
export async function updateRow<M extends RowModel>(
  sql: Sql,
  model: M,
  key: Partial<RowOf<M>>,
  values: Partial<RowOf<M>>,
): Promise<RowOf<M>> {
  const updated = await queryOf(model, sql)
    .patch({
      ...values,
      ...('updated_at' in model.columns && { updated_at: raw('clock_timestamp()') }),
    } as object)
    .where(key as object)
    .returning(asJson(model.tableName))
    .first();
  if (!updated) throw new Error(`The ${model.tableName} row to be updated is gone.`);
  return jsonOf<M>(updated);
}

/** Conditions, order and locks of a query: `(query) => query.whereIn('id', ids).orderBy('id').forUpdate()`. */
type Refine = (query: QueryBuilder<Model>) => unknown;

/** The rows that a query selects. */
export async function findRows<M extends RowModel>(sql: Sql, model: M, refine: Refine): Promise<RowOf<M>[]> {
  const query = queryOf(model, sql).select(asJson(model.tableName));
  refine(query as QueryBuilder<Model>);
  return (await query).map(jsonOf<M>);
}

/** Deletes the rows that a query selects. @returns the deleted rows. */
export async function deleteRows<M extends RowModel>(
  sql: Sql,
  model: M,
  refine: Refine,
): Promise<RowOf<M>[]> {
  const query = queryOf(model, sql).delete().returning(asJson(model.tableName));
  refine(query as unknown as QueryBuilder<Model>);
  return ((await query) as unknown[]).map(jsonOf<M>);
}

/** The columns of the model that the rows have; all rows have the columns of the first one. */
const columnsIn = (model: RowModel, [first = {}]: readonly object[]): string[] =>
  Object.keys(model.columns).filter((column) => column in first);

/**
 * Inserts rows in one statement; members that are not columns of the model are ignored.
 * @returns the complete rows, in the given order.
 */
export async function insertRows<M extends RowModel>(
  sql: Sql,
  model: M,
  rows: readonly Partial<RowOf<M>>[],
): Promise<RowOf<M>[]> {
  if (rows.length === 0) return [];
  const { tableName } = model;
  const columns = columnsIn(model, rows).join(', ');
  return await query(sql).column<RowOf<M>>`insert into ${embed(tableName)} as t (${embed(columns)})
     select ${embed(columns)}
     from jsonb_populate_recordset(null::${embed(tableName)}, ${JSON.stringify(rows)}::jsonb)
     returning to_jsonb(t) as row`;
}

/**
 * Updates rows by their ids in one statement, including `updated_at` unless they contain it.
 * @param columns the columns to write; by default all columns of the model that the rows have.
 */
export async function updateRows<M extends RowModel>(
  sql: Sql,
  model: M,
  rows: readonly Partial<RowOf<M>>[],
  columns: readonly (keyof M['columns'] & string)[] = columnsIn(model, rows),
): Promise<void> {
  if (rows.length === 0) return;
  const { tableName } = model;
  const written = columns.filter((column) => column !== 'id');
  const set = written.map((column) => `${column} = v.${column}`);
  if ('updated_at' in model.columns && !written.includes('updated_at'))
    set.push('updated_at = clock_timestamp()');
  await query(sql).rows`update ${embed(tableName)} t set ${embed(set.join(', '))}
     from jsonb_populate_recordset(null::${embed(tableName)}, ${JSON.stringify(rows)}::jsonb) v
     where t.id = v.id`;
}

function jsonOf<M extends RowModel>(instance: unknown): RowOf<M> {
  return (instance as { row: RowOf<M> }).row;
}
