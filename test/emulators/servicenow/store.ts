import { createHash } from 'node:crypto';
import type { Clock } from '../../../integrations/exchange/itsm/remote.ts';
import { type FieldSchema, systemFields, type TableSchema } from './schema.ts';

/** A row; every value is text, as in the database below an instance. */
export type Row = { table: string; values: Record<string, string> };

/** `2026-01-31 23:59:59`, in UTC. */
export const formatTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** The tables and rows of one instance. */
export class Store {
  readonly tables = new Map<string, TableSchema>();
  /** Every row by its id, which is unique in the instance. */
  readonly rows = new Map<string, Row>();
  /** Added to the clock's time wherever the instance shows the time, in milliseconds. */
  skew = 0;
  readonly #clock: Clock;
  readonly #seed: string;
  #count = 0;
  readonly #children = new Map<string, string[]>();
  readonly #orders = new Map<string, string[]>();
  readonly #fields = new Map<string, Map<string, FieldSchema>>();
  readonly #references = new Map<string, Set<string>>();

  constructor(schema: TableSchema[], clock: Clock, seed: string) {
    this.#clock = clock;
    this.#seed = seed;
    for (const table of schema) this.defineTable(table);
  }

  now(): number {
    return this.#clock.now() + this.skew;
  }

  defineTable(schema: TableSchema): void {
    this.tables.set(schema.name, schema);
    if (schema.parent) {
      this.#children.set(schema.parent, [...(this.#children.get(schema.parent) ?? []), schema.name]);
    }
    this.#fields.clear();
  }

  /** Adds a column, or takes it away; the values of a column taken away go with it. */
  changeField(table: string, field: FieldSchema | { name: string; removed: true }): void {
    const schema = this.tables.get(table)!;
    schema.fields = schema.fields.filter(({ name }) => name !== field.name);
    if ('removed' in field) {
      for (const row of this.of(table)) delete row.values[field.name];
    } else schema.fields = [...schema.fields, field];
    this.#fields.clear();
  }

  /** A table and those it extends, itself first. */
  lineage(table: string): string[] {
    const line: string[] = [];
    for (let name: string | undefined = table; name; name = this.tables.get(name)?.parent) line.push(name);
    return line;
  }

  /** A table and those that extend it, at any depth. */
  descendants(table: string): string[] {
    return [table, ...(this.#children.get(table) ?? []).flatMap((child) => this.descendants(child))];
  }

  instanceOf(table: string, ancestor: string): boolean {
    return this.lineage(table).includes(ancestor);
  }

  /** The columns of a table, inherited ones included. */
  fields(table: string): Map<string, FieldSchema> {
    let fields = this.#fields.get(table);
    if (!fields) {
      const all = [
        ...systemFields,
        ...this.lineage(table)
          .reverse()
          .flatMap((name) => this.tables.get(name)!.fields),
      ];
      fields = new Map(all.map((field) => [field.name, field]));
      this.#fields.set(table, fields);
    }
    return fields;
  }

  /** The column that a name leads to from a table, through references where it has points. */
  field(table: string, path: string): FieldSchema | undefined {
    const [first, ...rest] = path.split('.');
    const field = this.fields(table).get(first!);
    if (rest.length === 0 || !field) return field;
    return field.reference ? this.field(field.reference, rest.join('.')) : undefined;
  }

  /** The value that a name leads to from a row; '' where there is none. */
  value(row: Row, path: string): string {
    const point = path.indexOf('.');
    if (point < 0) return row.values[path] ?? '';
    const target = this.rows.get(row.values[path.slice(0, point)] ?? '');
    return target ? this.value(target, path.slice(point + 1)) : '';
  }

  find(table: string, id: string): Row | undefined {
    const row = this.rows.get(id);
    return row && this.instanceOf(row.table, table) ? row : undefined;
  }

  /** The ids of a table's rows, those of its descendants included, in their order. */
  ids(table: string): string[] {
    let order = this.#orders.get(table);
    if (!order) {
      const tables = new Set(this.descendants(table));
      order = [];
      for (const [id, row] of this.rows) if (tables.has(row.table)) order.push(id);
      order.sort();
      this.#orders.set(table, order);
    }
    return order;
  }

  of(table: string): Row[] {
    return this.ids(table).map((id) => this.rows.get(id)!);
  }

  newId(): string {
    this.#count += 1;
    return createHash('md5').update(`${this.#seed}:${this.#count}`).digest('hex');
  }

  /** Inserts a row as a user; values of unknown columns are ignored and long ones cut, as there. */
  insert(table: string, values: Record<string, string>, user: string, id = this.newId()): Row {
    const at = formatTime(this.now());
    const row: Row = {
      table,
      values: {
        ...this.#fitting(table, values),
        sys_id: id,
        sys_created_on: at,
        sys_created_by: user,
        sys_updated_on: at,
        sys_updated_by: user,
        sys_mod_count: '0',
      },
    };
    if (this.fields(table).has('sys_class_name')) row.values.sys_class_name = table;
    this.rows.set(id, row);
    for (const name of this.lineage(table)) {
      const order = this.#orders.get(name);
      if (order) order.splice(place(order, id), 0, id);
    }
    if (table === 'cmdb_rel_ci') this.#refer(row);
    return row;
  }

  /** Changes a row; where nothing differs it stays as it is, its time of update too. */
  update(row: Row, values: Record<string, string>, user: string): boolean {
    const fitting = this.#fitting(row.table, values);
    const changed = Object.entries(fitting).filter(([name, value]) => (row.values[name] ?? '') !== value);
    if (changed.length === 0) return false;
    const replaced = changed.map(([name, value]) => [name, row.values[name] ?? '', value] as const);
    Object.assign(row.values, Object.fromEntries(changed), {
      sys_updated_on: formatTime(this.now()),
      sys_updated_by: user,
      sys_mod_count: String(Number(row.values.sys_mod_count) + 1),
    });
    if (row.table === 'cmdb_rel_ci') this.#refer(row);
    if (this.fields(row.table).has('sys_class_name')) this.#audit(row, replaced, user);
    return true;
  }

  /** Moves a row to the table of another class: it keeps its key, and no deletion is recorded. */
  reclassify(row: Row, table: string, user: string): void {
    const before = row.values.sys_class_name ?? '';
    row.table = table;
    row.values.sys_class_name = table;
    row.values.sys_updated_on = formatTime(this.now());
    row.values.sys_updated_by = user;
    row.values.sys_mod_count = String(Number(row.values.sys_mod_count) + 1);
    this.#orders.clear();
    this.#audit(row, [['sys_class_name', before, table]], user);
  }

  /** Keeps what configuration items were changed from and to, a row for each column. */
  #audit(row: Row, replaced: readonly (readonly [string, string, string])[], user: string): void {
    for (const [fieldname, oldvalue, newvalue] of replaced) {
      const { sys_id: documentkey = '', sys_mod_count: record_checkpoint = '' } = row.values;
      const values = {
        tablename: row.table,
        documentkey,
        fieldname,
        oldvalue,
        newvalue,
        record_checkpoint,
        user,
      };
      this.insert('sys_audit', values, user);
    }
  }

  /** Deletes a row, its relations with it, and keeps a record of each in sys_audit_delete. */
  remove(row: Row, user: string): void {
    const id = row.values.sys_id!;
    for (const relation of this.#references.get(id) ?? []) {
      const found = this.rows.get(relation);
      if (found) this.remove(found, user);
    }
    this.#references.delete(id);
    this.rows.delete(id);
    for (const name of this.lineage(row.table)) {
      const order = this.#orders.get(name);
      const at = order ? place(order, id) : -1;
      if (order?.[at] === id) order.splice(at, 1);
    }
    if (this.lineage(row.table).some((name) => this.tables.get(name)!.unaudited)) return;
    const display = this.displayOf(row);
    this.insert('sys_audit_delete', { tablename: row.table, documentkey: id, display_value: display }, user);
  }

  /** The text of a reference to a row. */
  displayOf(row: Row): string {
    const column = this.lineage(row.table)
      .map((name) => this.tables.get(name)!.display)
      .find((name) => name !== undefined);
    return column ? (row.values[column] ?? '') : '';
  }

  #refer(relation: Row): void {
    for (const end of [relation.values.parent, relation.values.child]) {
      if (!end) continue;
      this.#references.set(end, (this.#references.get(end) ?? new Set()).add(relation.values.sys_id!));
    }
  }

  #fitting(table: string, values: Record<string, string>): Record<string, string> {
    const fields = this.fields(table);
    const fitting: Record<string, string> = {};
    for (const [name, value] of Object.entries(values)) {
      const field = fields.get(name);
      if (!field || name.startsWith('sys_')) continue;
      fitting[name] = field.maxLength && field.type === 'string' ? value.slice(0, field.maxLength) : value;
    }
    return fitting;
  }
}

/** The first place in an ordered list whose value is not before the one given. */
export function place(order: string[], value: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
