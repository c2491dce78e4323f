import type { Clock } from '../../../integrations/exchange/itsm/remote.ts';
import { attributesOf, lineage, model, rootOf } from './model.ts';

/** An object, or an entry of the history. */
export type Item = { class: string; id: number; values: Record<string, string | number> };

/** The objects of one instance and what is kept of every change. */
export class Store {
  readonly #items = new Map<string, Map<number, Item>>();
  readonly #sequences = new Map<string, number>();
  readonly #clock: Clock;
  /** The zone of PHP, which the instance writes its history in. */
  readonly timeZone: string;

  constructor(clock: Clock, timeZone: string) {
    this.#clock = clock;
    this.timeZone = timeZone;
  }

  /** `2026-01-31 23:59:59` by the clocks of the instance. */
  now(): string {
    return new Date(this.#clock.now()).toLocaleString('sv-SE', { timeZone: this.timeZone });
  }

  #family(root: string): Map<number, Item> {
    const known = this.#items.get(root) ?? new Map<number, Item>();
    this.#items.set(root, known);
    return known;
  }

  /** The objects of a class and of those that extend it. */
  of(className: string): Item[] {
    const all = [...this.#family(rootOf(className)).values()];
    return all.filter((item) => lineage(item.class).includes(className));
  }

  find(className: string, id: number): Item | undefined {
    const item = this.#family(rootOf(className)).get(id);
    return item && lineage(item.class).includes(className) ? item : undefined;
  }

  /** What an attribute holds, those included that are computed. */
  value(item: Item, field: string): string | number {
    if (field === 'id') return item.id;
    if (field === 'finalclass') return item.class;
    if (field === 'friendlyname') return this.nameOf(item);
    const [, key, part] = /^(.+_id)_(friendlyname|finalclass_recall)$/.exec(field) ?? [];
    if (key === undefined) return item.values[field] ?? '';
    const target = attributesOf(item.class)[key]?.target;
    const led = target ? this.find(target, Number(item.values[key] ?? 0)) : undefined;
    return led ? (part === 'friendlyname' ? this.nameOf(led) : led.class) : '';
  }

  nameOf(item: Item): string {
    const { name } = model[item.class]!;
    return String(name === 'id' ? item.id : (item.values[name] ?? ''));
  }

  insert(className: string, values: Item['values'], userinfo: string): Item {
    const item = this.#put(className, values);
    this.#purge((entry) => entry.class === 'CMDBChangeOpDelete' && isOf(entry, rootOf(className), item.id));
    this.#record('CMDBChangeOpCreate', { objclass: className, objkey: item.id, userinfo });
    return item;
  }

  /** Changes an object, with an entry for each attribute that differs. */
  update(item: Item, values: Item['values'], userinfo: string): boolean {
    const changed = Object.entries(values).filter(([name, value]) => (item.values[name] ?? '') !== value);
    for (const [attcode, newvalue] of changed) {
      const oldvalue = item.values[attcode] ?? '';
      const about = { objclass: item.class, objkey: item.id, userinfo };
      this.#record('CMDBChangeOpSetAttributeScalar', { ...about, attcode, oldvalue, newvalue });
      item.values[attcode] = newvalue;
    }
    return changed.length > 0;
  }

  /** Deletes an object and the links to it; of its history only the deletion stays. */
  remove(item: Item, userinfo: string): void {
    for (const [name, { attributes }] of Object.entries(model)) {
      if (!name.startsWith('lnk')) continue;
      const ends = Object.entries(attributes).filter(
        ([, { target }]) => target && lineage(item.class).includes(target),
      );
      for (const link of this.of(name)) {
        if (ends.some(([end]) => link.values[end] === item.id)) this.remove(link, userinfo);
      }
    }
    const root = rootOf(item.class);
    this.#family(root).delete(item.id);
    this.#purge((entry) => isOf(entry, item.class, item.id));
    const fname = this.nameOf(item);
    this.#record('CMDBChangeOpDelete', {
      objclass: root,
      objkey: item.id,
      userinfo,
      fclass: item.class,
      fname,
    });
  }

  #put(className: string, values: Item['values']): Item {
    const root = rootOf(className);
    const id = (this.#sequences.get(root) ?? 0) + 1;
    this.#sequences.set(root, id);
    const item: Item = { class: className, id, values: { ...values } };
    this.#family(root).set(id, item);
    return item;
  }

  #record(className: string, values: Item['values']): void {
    const { id } = this.#put(className, { ...values, date: this.now() });
    this.find(className, id)!.values.change = id;
  }

  #purge(goes: (entry: Item) => boolean): void {
    const history = this.#family('CMDBChangeOp');
    for (const entry of [...history.values()]) if (goes(entry)) history.delete(entry.id);
  }
}

const isOf = ({ values }: Item, className: string, id: number): boolean =>
  values.objclass === className && values.objkey === id;
