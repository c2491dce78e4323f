import type { CallKind } from './faults.ts';
import { attributesOf, hasChildren, lineage, model } from './model.ts';
import { parseOql, type Query } from './oql.ts';
import type { Item, Store } from './store.ts';

export interface Account {
  login: string;
  password: string;
  token?: string;
  /** Classes that actions are refused on, such as `read Server`. */
  denied: Set<string>;
  /** Organisations whose objects are seen; all where it is undefined. */
  organisations?: Set<number>;
}

/** What `json_data` asks for. */
export interface Asked {
  operation: string;
  class?: string;
  key?: string | number | Record<string, unknown>;
  fields?: Record<string, unknown>;
  output_fields?: string;
  comment?: string;
  limit?: number | string;
  page?: number | string;
  simulate?: boolean;
}

export type Response = { code: number; message: string; objects?: Record<string, unknown> | null };

/** One stored write of any user. */
export type Write = { kind: Exclude<CallKind, 'get'>; class: string; id: number; user: string };

class ServiceError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const internal = (message: string): ServiceError => new ServiceError(100, message);

/** The operations of the REST/JSON service, version 1.3. */
export class Service {
  readonly store: Store;
  readonly writes: Write[] = [];

  constructor(store: Store) {
    this.store = store;
  }

  answer(account: Account, asked: Asked): Response {
    try {
      return this.#operate(account, asked);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { code: error instanceof ServiceError ? error.code : 100, message: `Error: ${error.message}` };
    }
  }

  #operate(account: Account, asked: Asked): Response {
    switch (asked.operation) {
      case 'core/get': {
        const found = this.#find(account, asked, 'read', 'reading');
        const limit = Number(asked.limit ?? 0);
        const from = limit * (Math.max(1, Number(asked.page ?? 1)) - 1);
        const page = limit === 0 ? found : found.slice(from, from + limit);
        return { code: 0, message: `Found: ${found.length}`, objects: this.#shown(asked, page, '') };
      }
      case 'core/create': {
        const className = this.#classOf(asked);
        this.#comment(asked);
        this.#allow(account, 'write', className, 'creating');
        if (model[className]!.abstract) throw internal(`Cannot instantiate the abstract class ${className}`);
        const values = this.#values(className, asked.fields ?? {});
        for (const [name, { mandatory }] of Object.entries(attributesOf(className))) {
          if (mandatory && !values[name]) throw internal(`Missing value for the mandatory attribute ${name}`);
        }
        const item = this.store.insert(className, values, asked.comment!);
        this.writes.push({ kind: 'create', class: className, id: item.id, user: account.login });
        return { code: 0, message: '', objects: this.#shown(asked, [item], 'created') };
      }
      case 'core/update': {
        this.#comment(asked);
        const [item] = this.#find(account, asked, 'write', 'modifying');
        if (!item)
          throw internal(
            typeof asked.key === 'number'
              ? `Invalid object ${asked.class}::${asked.key}`
              : `No item found for query: ${String(asked.key)}`,
          );
        if (this.store.update(item, this.#values(item.class, asked.fields ?? {}), asked.comment!))
          this.writes.push({ kind: 'update', class: item.class, id: item.id, user: account.login });
        return { code: 0, message: '', objects: this.#shown(asked, [item], 'updated') };
      }
      case 'core/delete': {
        const found = this.#find(account, asked, 'delete', 'deleting');
        const objects = this.#shown({ ...asked, output_fields: 'id,friendlyname' }, found, '');
        const said = `Deleted: ${found.length}`;
        if (asked.simulate) return { code: 0, message: `SIMULATING: ${said}`, objects };
        for (const item of found) {
          this.store.remove(item, asked.comment ?? '');
          this.writes.push({ kind: 'delete', class: item.class, id: item.id, user: account.login });
        }
        return { code: 0, message: said, objects };
      }
      default:
        throw new ServiceError(11, `Unknown verb '${asked.operation}' in version '1.3'`);
    }
  }

  #comment(asked: Asked): void {
    if (asked.comment === undefined) throw internal(`Missing parameter 'comment'`);
  }

  #classOf({ class: className = '' }: Asked): string {
    if (!model[className]) throw internal(`class: '${className}' is not a valid class'`);
    return className;
  }

  #allow(account: Account, action: 'read' | 'write' | 'delete', className: string, words: string): void {
    if (!lineage(className).some((name) => account.denied.has(`${action} ${name}`))) return;
    const message = `The current user does not have enough permissions for ${words} data of class ${className}`;
    throw new ServiceError(1, message);
  }

  /** The objects that a key, a query or criteria lead to, in the order of their names. */
  #find(account: Account, asked: Asked, action: 'read' | 'write' | 'delete', words: string): Item[] {
    const className = this.#classOf(asked);
    const { key } = asked;
    let query: Query = { class: className, fits: () => true };
    if (typeof key === 'number' || /^\d+$/.test(String(key))) {
      query.fits = (read) => read('id') === Number(key);
    } else if (typeof key === 'string') {
      query = parseOql(key, (one, field) => this.#fieldsOf(one).includes(field));
    } else throw internal(`Missing parameter 'key'`);
    this.#allow(account, action, query.class, words);
    const { organisations } = account;
    return this.store
      .of(query.class)
      .filter((item) => {
        const org = item.values.org_id;
        return organisations === undefined || typeof org !== 'number' || organisations.has(org);
      })
      .filter((item) => query.fits((field) => this.store.value(item, field)))
      .sort((a, b) => {
        const [one, other] = [this.store.nameOf(a), this.store.nameOf(b)];
        return one < other ? -1 : one > other ? 1 : b.id - a.id;
      });
  }

  /** The attributes of a class as answers name them. */
  #fieldsOf(className: string): string[] {
    const names = Object.entries(attributesOf(className)).flatMap(([name, { kind, target }]) => [
      name,
      ...(kind === 'key' ? [`${name}_friendlyname`] : []),
      ...(kind === 'key' && hasChildren(target!) ? [`${name}_finalclass_recall`] : []),
    ]);
    const inherits = model[className]!.parent !== undefined || hasChildren(className);
    return [...names, 'friendlyname', ...(inherits ? ['finalclass'] : [])];
  }

  #values(className: string, fields: Record<string, unknown>): Item['values'] {
    const attributes = attributesOf(className);
    const values: Item['values'] = {};
    for (const [name, value] of Object.entries(fields)) {
      const attribute = attributes[name];
      if (!attribute) throw internal(`${name}: Unknown attribute`);
      const text = value === null ? '' : String(value);
      if (attribute.kind === 'key') {
        const id =
          typeof value === 'object' ? this.#named(attribute.target!, name, value) : Number(text || 0);
        if (Number.isNaN(id) || (id > 0 && !this.store.find(attribute.target!, id)))
          throw internal(`${name}: Invalid object ${attribute.target}::${text}`);
        values[name] = id;
      } else if (attribute.kind === 'enum' && text !== '' && !attribute.values!.includes(text)) {
        throw internal(`Value not allowed [${text}] for ${name}`);
      } else if (attribute.kind === 'links') throw internal(`${name}: A link set must be an array`);
      else values[name] = attribute.kind === 'text' ? text.slice(0, 255) : text;
    }
    return values;
  }

  /** The one object that criteria fit. */
  #named(className: string, name: string, criteria: object | null): number {
    const wanted = Object.entries(criteria ?? {});
    const found = this.store
      .of(className)
      .filter((item) => wanted.every(([field, value]) => this.store.value(item, field) === value));
    const text = wanted.map(([field, value]) => `${field}: ${value}`).join(', ');
    if (found.length === 0) throw internal(`${name}: No item found with criteria: ${text}`);
    if (found.length > 1)
      throw internal(`${name}: Several items found (${found.length}) with criteria: ${text}`);
    return found[0]!.id;
  }

  #shown(asked: Asked, items: Item[], message: string): Record<string, unknown> | null {
    if (items.length === 0) return null;
    const known = this.#fieldsOf(asked.class!);
    const wanted =
      (asked.output_fields ?? '*') === '*'
        ? known
        : asked.output_fields!.split(',').map((name) => {
            const trimmed = name.trim();
            if (trimmed !== 'id' && !known.includes(trimmed))
              throw internal(`output_fields: invalid attribute code '${trimmed}'`);
            return trimmed;
          });
    return Object.fromEntries(
      items.map((item) => [
        `${item.class}::${item.id}`,
        {
          code: 0,
          message,
          class: item.class,
          key: String(item.id),
          fields: Object.fromEntries(wanted.map((name) => [name, this.#cell(item, name)])),
        },
      ]),
    );
  }

  #cell(item: Item, name: string): unknown {
    const attribute = attributesOf(item.class)[name];
    if (attribute?.kind === 'links') {
      const { class: className, back } = attribute.links!;
      return this.store
        .of(className)
        .filter((link) => link.values[back] === item.id)
        .map(({ values }) => values);
    }
    const value = this.store.value(item, name);
    return attribute?.kind === 'key' ? String(value || 0) : name === 'id' ? String(value) : value;
  }
}
