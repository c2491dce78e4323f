import { type Db, query } from '../../../platform/database.ts';
import { type Kind, kinds, texts } from './landscape.ts';
import type { World } from './world.ts';

export type SideName = 'local' | 'remote';
export type Path = (typeof texts)[number]['card_field'];
export const sides: readonly SideName[] = ['local', 'remote'];
export const paths: readonly Path[] = texts.map(({ card_field }) => card_field);

/** No value, among values. */
export const NOTHING = '';

/** What has become of a thing on one side. */
interface SideHistory {
  id?: string;
  there: boolean;
  /** Who made it there last, and who removed it. */
  madeBy?: Actor;
  removedBy?: Actor;
  /** Somebody changed it in the very moment of its removal, after it had been looked at by itself: no remote guards that. */
  removedUnseen?: boolean;
  held: Record<Path, string>;
  /** All that it has ever held there. */
  ever: Record<Path, Set<string>>;
}

type Actor = 'person' | 'sync';

/** A value that a person has written. */
export interface Written {
  side: SideName;
  /** What was in its place. */
  seen: string;
  /** The thing was made with it. */
  atFirst?: true;
}

/** One thing, which is a card here and a record outside. */
export interface Item {
  name: string;
  kind: Kind['key'];
  local: SideHistory;
  remote: SideHistory;
  /** What both sides agreed on when they last agreed; undefined while no person has made it. */
  root: Record<Path, string> | undefined;
  /** What persons have written since. */
  written: Record<Path, Map<string, Written>>;
}

/** What has happened on both sides, by the journals of both: the events here, and the instance's own there. */
export interface Journal {
  items: Map<string, Item>;
  /** The keys of relations outside, with `application > component`. */
  relations: Map<string, string>;
  /** Takes in what has happened. */
  read(): Promise<void>;
  /** @returns what should never have happened, however it ended. */
  check(): string[];
  /** Both sides agree: later changes are compared with what they hold now. */
  settle(): void;
}

/** Who changes things at the remote. */
const ELSEWHERE = 'abel.tuter';

const perPath = <T>(make: (path: Path) => T) =>
  Object.fromEntries(paths.map((path) => [path, make(path)])) as Record<Path, T>;

const newSide = (): SideHistory => ({
  there: false,
  held: perPath(() => NOTHING),
  ever: perPath(() => new Set<string>()),
});

type Changes = Record<string, { old: unknown; new: unknown }>;

/** @param related is called for each relation that a person has made or removed outside. */
export async function openJournal(
  { services: { db }, instance }: Pick<World, 'services' | 'instance'>,
  related: (ends: string, there: boolean) => void,
): Promise<Journal> {
  const items = new Map<string, Item>();
  const names: Record<SideName, Map<string, string>> = { local: new Map(), remote: new Map() };
  const relations = new Map<string, string>();
  let faults: string[] = [];
  /** Values that the synchronisation has written, to be compared with what persons have when both journals are read. */
  let synced: { item: Item; side: SideName; path: Path; value: string }[] = [];
  let read = 0;
  let reading: Promise<void> = Promise.resolve();
  let position = await newestEvent(db);

  const itemOf = (name: string, kind: Kind['key']): Item => {
    const item = items.get(name) ?? {
      name,
      kind,
      local: newSide(),
      remote: newSide(),
      root: undefined,
      written: perPath(() => new Map()),
    };
    items.set(name, item);
    return item;
  };
  const hold = (item: Item, side: SideName, path: Path, value: string) => {
    item[side].held[path] = value;
    item[side].ever[path].add(value);
  };

  const made = (side: SideName, by: Actor, id: string, item: Item, values: Record<Path, string>) => {
    names[side].set(id, item.name);
    if (item[side].there) faults.push(`'${item.name}' was made though it was there (${side}, by ${by})`);
    Object.assign(item[side], { id, there: true, madeBy: by });
    for (const path of paths) {
      hold(item, side, path, values[path]);
      if (by === 'sync') synced.push({ item, side, path, value: values[path] });
    }
    if (by !== 'person') return;
    item.root = perPath(() => NOTHING);
    for (const path of paths) {
      if (values[path] !== NOTHING)
        item.written[path].set(values[path], { side, seen: NOTHING, atFirst: true });
    }
  };
  const edited = (side: SideName, by: Actor, item: Item, path: Path, value: string) => {
    const seen = item[side].held[path];
    hold(item, side, path, value);
    if (by === 'person') item.written[path].set(value, { side, seen });
    else if (value === NOTHING) faults.push(`${path} of '${item.name}' was emptied (${side})`);
    else synced.push({ item, side, path, value });
  };
  const removed = (side: SideName, by: Actor, item: Item) => {
    if (item[side].there) Object.assign(item[side], { there: false, removedBy: by });
  };

  const readRemote = () => {
    for (; read < instance.writes.length; read += 1) {
      const { kind: what, table, id, user, values } = instance.writes[read]!;
      const by: Actor = user === ELSEWHERE ? 'person' : 'sync';
      if (table === 'cmdb_rel_ci') {
        if (what === 'insert') {
          const ends = `${names.remote.get(values.parent!)} > ${names.remote.get(values.child!)}`;
          if ([...relations.values()].includes(ends)) faults.push(`relation ${ends} was made twice`);
          relations.set(id, ends);
        }
        const ends = relations.get(id);
        if (what === 'delete') relations.delete(id);
        if (ends && by === 'person') related(ends, what !== 'delete');
        continue;
      }
      const kind = kinds.find((one) => one.table === table);
      if (!kind) continue;
      if (what === 'insert') {
        made('remote', by, id, itemOf(values.name!, kind.key), valuesOf(values));
        continue;
      }
      const item = items.get(names.remote.get(id) ?? '');
      if (!item) continue;
      if (what === 'delete') {
        item.remote.removedUnseen = instance.writes
          .slice(instance.looks.get(id) ?? read, read)
          .some((write) => write.id === id && write.user === ELSEWHERE);
        removed('remote', by, item);
        for (const [key, ends] of relations) {
          if (ends.split(' > ').includes(item.name)) relations.delete(key);
        }
        continue;
      }
      for (const { card_field, remote_field } of texts) {
        const value = values[remote_field];
        if (value !== undefined) edited('remote', by, item, card_field, value);
      }
    }
  };

  const readLocal = async () => {
    const rows = await query(db).rows`
       select e.position::text as position, e.event_type as type, e.card_id as id, e.card_type,
         e.data -> 'changes' as changes, exists (select from itsm_runs r where r.id = e.batch_id) as synced
       from events e where e.position > ${position} and e.card_type = any(${kinds.map((one) => one.cardType)})
         and e.event_type like 'card.%' order by e.position`;
    for (const { position: at, type, id, card_type, changes, synced } of rows as {
      position: string;
      type: string;
      id: string;
      card_type: string;
      changes: Changes | null;
      synced: boolean;
    }[]) {
      position = at;
      const by: Actor = synced ? 'sync' : 'person';
      if (type === 'card.created') {
        const kind = kinds.find(({ cardType }) => cardType === card_type)!;
        const values = perPath((path) => textOf(changes?.[path]?.new));
        made('local', by, id, itemOf(String(changes!.name!.new), kind.key), values);
        continue;
      }
      const item = items.get(names.local.get(id) ?? '');
      if (!item) faults.push(`an unknown card: ${type} ${id}`);
      else if (type === 'card.archived' || type === 'card.deleted') removed('local', by, item);
      else if (type !== 'card.updated') faults.push(`'${item.name}': ${type}, which nobody has asked for`);
      else {
        for (const path of paths) {
          if (changes?.[path]) edited('local', by, item, path, textOf(changes[path].new));
        }
      }
    }
  };

  const checkSynced = () => {
    for (const { item, side, path, value } of synced) {
      const isKnown = value === NOTHING || value === item.root?.[path] || item.written[path].has(value);
      if (!isKnown)
        faults.push(`${path} of '${item.name}' became ${value}, which nobody has written (${side})`);
    }
    synced = [];
  };

  for (const { key, table } of kinds) {
    for (const { values } of instance.store.of(table))
      made('remote', 'person', values.sys_id!, itemOf(values.name!, key), valuesOf(values));
  }
  for (const { values } of instance.store.of('cmdb_rel_ci')) {
    relations.set(values.sys_id!, `${names.remote.get(values.parent!)} > ${names.remote.get(values.child!)}`);
  }

  return {
    items,
    relations,
    read() {
      // one after the other
      reading = reading.then(async () => {
        readRemote();
        await readLocal();
      });
      return reading;
    },
    check() {
      checkSynced();
      const found = faults;
      faults = [];
      return found;
    },
    settle() {
      for (const [name, item] of items) {
        if (!item.local.there && !item.remote.there) items.delete(name);
        // what is left on one side alone waits for a person, with all that is known of it
        if (!item.local.there || !item.remote.there) continue;
        item.root = { ...item.remote.held };
        item.written = perPath(() => new Map());
        for (const side of sides) item[side].ever = perPath((path) => new Set([item[side].held[path]]));
      }
    },
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : NOTHING);

const valuesOf = (values: Record<string, string>): Record<Path, string> =>
  Object.fromEntries(
    texts.map(({ card_field, remote_field }) => [card_field, values[remote_field] ?? NOTHING]),
  ) as Record<Path, string>;

async function newestEvent(db: Db): Promise<string> {
  return (await db.raw('select coalesce(max(position), 0)::text as position from events')).rows[0].position;
}
