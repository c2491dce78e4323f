import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { timeOf } from '../../../integrations/exchange/itsm/connectors/netbox/records.ts';

/** A column of an object type; references are stored as numbers and shown nested. */
interface Column {
  type: 'string' | 'integer' | 'decimal' | 'boolean' | 'choice' | 'reference' | 'tags' | 'json';
  required?: boolean;
  target?: string;
  choices?: Record<string, string>;
  maxLength?: number;
}

export interface ObjectType {
  /** Such as `dcim.device`. */
  name: string;
  columns: Record<string, Column>;
}

/** A part of the object types, by endpoint. */
export const schema: Record<string, ObjectType> = parse(
  readFileSync(new URL('./schema.yaml', import.meta.url), 'utf8'),
);

export type Row = Record<string, unknown> & { id: number };

export interface LoggedChange extends Row {
  /** In microseconds. */
  at: number;
  action: 'create' | 'update' | 'delete';
  changed_object_type: string;
  changed_object_id: number;
  prechange_data: unknown;
  postchange_data: unknown;
}

export type CustomField = { id: number; name: string; label: string; type: string; object_types: string[] };

/** The objects of an instance by endpoint, and what was done to them. */
export class Store {
  readonly tables = new Map<string, Map<number, Row>>(Object.keys(schema).map((table) => [table, new Map()]));
  readonly log: LoggedChange[] = [];
  readonly customFields: CustomField[] = [];
  /** Writes over HTTP and by others alike. */
  readonly writes: { action: string; table: string; id: number; who: string }[] = [];
  readonly #now: () => number;
  #last = 0;
  #ids = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whole microseconds since 1970, later than the moment before. */
  moment(): number {
    this.#last = Math.max(Math.floor(this.#now() * 1000), this.#last + 1);
    return this.#last;
  }

  rows(table: string): Row[] {
    return [...(this.tables.get(table)?.values() ?? [])].sort((a, b) => a.id - b.id);
  }

  fieldsOf(table: string): CustomField[] {
    return this.customFields.filter(({ object_types }) => object_types.includes(schema[table]!.name));
  }

  insert(table: string, values: Record<string, unknown>, who = 'elsewhere'): Row {
    this.#ids += 1;
    const empty = Object.entries(schema[table]!.columns).map(([name, { type }]) => [
      name,
      type === 'string' ? '' : type === 'tags' || type === 'json' ? [] : type === 'choice' ? 'active' : null,
    ]);
    const custom = Object.fromEntries(this.fieldsOf(table).map(({ name }) => [name, null]));
    const row: Row = {
      ...Object.fromEntries(empty),
      ...values,
      custom_fields: { ...custom, ...(values.custom_fields as object | undefined) },
      id: this.#ids,
      at: this.moment(),
    };
    this.tables.get(table)!.set(row.id, row);
    this.#note('create', table, null, row, who);
    return row;
  }

  update(table: string, id: number, values: Record<string, unknown>, who = 'elsewhere'): Row {
    const row = this.tables.get(table)!.get(id)!;
    const before = { ...row };
    const { custom_fields: custom, ...rest } = values;
    Object.assign(row, rest, { at: this.moment() });
    if (custom) row.custom_fields = { ...(row.custom_fields as object), ...(custom as object) };
    this.#note('update', table, before, row, who);
    return row;
  }

  remove(table: string, id: number, who = 'elsewhere'): void {
    const row = this.tables.get(table)!.get(id)!;
    this.tables.get(table)!.delete(id);
    this.#note('delete', table, row, null, who);
  }

  #note(
    action: LoggedChange['action'],
    table: string,
    before: Row | null,
    after: Row | null,
    who: string,
  ): void {
    const { id } = (before ?? after)!;
    this.writes.push({ action, table, id, who });
    this.log.push({
      id: this.log.length + 1,
      at: this.moment(),
      action,
      changed_object_type: schema[table]!.name,
      changed_object_id: id,
      prechange_data: before && { ...before },
      postchange_data: after && { ...after },
    });
  }
}

/** A time in microseconds as the API shows it. */
export const timestampOf = (micros: unknown): string => timeOf(micros as number);
