import { EstateError } from '../../../platform/errors.ts';
import { pick, type Random } from '../../bench/landscape/random.ts';
import type { Write } from '../../emulators/servicenow/instance.ts';
import { applications, components, type Kind, kinds, texts } from './landscape.ts';
import { readLocal, readRemote, type Side, type World } from './world.ts';

export type SideName = 'local' | 'remote';
type Path = (typeof texts)[number]['card_field'];

/** What a field may hold: what both sides last agreed on, or what somebody has written since. */
interface Told {
  agreed: string | null;
  local?: string | null;
  remote?: string | null;
}

/** What must be there in the end, by what people have done. */
export interface Expectations {
  /** A thing to be changed or removed: nothing is removed that somebody changes meanwhile. */
  choose(random: Random, what: 'edit' | 'remove'): string | undefined;
  /** An application and a component that are not related. */
  chooseEnds(random: Random): [string, string];
  chooseRelation(random: Random): [string, string] | undefined;
  recordOf(name: string): string | undefined;
  created(name: string, kind: Kind['key'], values: Record<Path, string | null>): void;
  edited(side: SideName, name: string, path: Path, value: string | null): void;
  removed(side: SideName, name: string): void;
  related(source: string, target: string, there: boolean): void;
  /** A write of somebody at the remote. */
  heard(write: Write): void;
  /** What somebody could not do. */
  failed(error: Error): void;
  /** Compares both sides with what people have done. @returns what is wrong. */
  judge(): Promise<string[]>;
}

export function createExpectations(world: World): Expectations {
  const there = new Map<string, Kind['key']>();
  const told = new Map<string, Record<Path, Told>>();
  const relations = new Set<string>();
  const names = new Map<string, string>();
  const records = new Map<string, string>();
  const ends = new Map<string, string>();
  /** Removed on one side and changed on the other: a person has to say what is to become of it. */
  const disputed = new Set<string>();
  let touched = new Map<string, Set<string>>();
  /** Relations that somebody has made or removed since both sides were last at rest: nobody does the opposite. */
  let relatedLately = new Set<string>();
  const troubles: string[] = [];

  const touch = (name: string, how: string) => {
    const all = touched.get(name) ?? new Set();
    touched.set(name, all.add(how));
    const other = how.endsWith('local') ? 'remote' : 'local';
    const against = how.startsWith('removed') ? `edited ${other}` : `removed ${other}`;
    if (all.has(against)) disputed.add(name);
  };
  const related = (source: string, target: string, is: boolean) => {
    const text = `${source} > ${target}`;
    relatedLately.add(text);
    if (is) relations.add(text);
    else relations.delete(text);
  };
  const remember = (id: string, name: string) => {
    names.set(id, name);
    records.set(name, id);
  };

  const expectations: Expectations = {
    choose(random, what) {
      const all = [...there.keys()];
      for (let at = 0; at < 20 && all.length > 0; at += 1) {
        const name = pick(random, all);
        const acts = [...(touched.get(name) ?? [])];
        if (disputed.has(name) || acts.some((act) => act.startsWith('removed'))) continue;
        if (what === 'remove' && acts.length > 0) continue;
        return name;
      }
      return undefined;
    },
    chooseEnds(random) {
      const of = (key: Kind['key']) => [...there].flatMap(([name, kind]) => (kind === key ? [name] : []));
      const [sources, targets] = [of(applications.key), of(components.key)];
      for (;;) {
        const [source, target] = [pick(random, sources), pick(random, targets)];
        const text = `${source} > ${target}`;
        if (!relations.has(text) && !relatedLately.has(text)) return [source, target];
      }
    },
    chooseRelation(random) {
      const free = [...relations].filter((text) => !relatedLately.has(text));
      return free.length === 0 ? undefined : (pick(random, free).split(' > ') as [string, string]);
    },
    recordOf: (name) => records.get(name),
    created(name, kind, values) {
      there.set(name, kind);
      told.set(name, {
        description: { agreed: values.description },
        alias: { agreed: values.alias },
      });
    },
    edited(side, name, path, value) {
      const fields = told.get(name);
      if (fields) fields[path][side] = value;
      touch(name, `edited ${side}`);
    },
    removed(side, name) {
      there.delete(name);
      touch(name, `removed ${side}`);
    },
    related,
    heard({ kind, table, id, values }) {
      if (table === 'cmdb_rel_ci') {
        if (kind === 'insert') ends.set(id, `${names.get(values.parent!)} > ${names.get(values.child!)}`);
        const text = ends.get(id);
        if (text) related(...(text.split(' > ') as [string, string]), kind !== 'delete');
        return;
      }
      const found = kinds.find((one) => one.table === table);
      if (!found) return;
      if (kind === 'insert') {
        remember(id, values.name!);
        expectations.created(values.name!, found.key, {
          description: values.short_description ?? null,
          alias: values.version ?? null,
        });
        return;
      }
      const name = names.get(id) ?? nameById(id);
      if (name === undefined) return;
      if (kind === 'delete') return expectations.removed('remote', name);
      for (const { card_field, remote_field } of texts) {
        const value = values[remote_field];
        if (value !== undefined) expectations.edited('remote', name, card_field, value || null);
      }
    },
    failed(error) {
      if (error instanceof EstateError && error.status < 500) return;
      troubles.push(`somebody could not work: ${error.stack}`);
    },
    async judge() {
      const faults = troubles.splice(0);
      const local = await readLocal(world);
      const remote = readRemote(world);
      for (const [side, { doubled }] of Object.entries({ local, remote })) {
        for (const name of doubled) faults.push(`'${name}' is there twice (${side})`);
      }
      for (const name of there.keys()) if (!disputed.has(name)) judgeThing(name, local, remote, faults);
      for (const [side, { things }] of Object.entries({ local, remote })) {
        for (const name of things.keys()) {
          if (!there.has(name) && !disputed.has(name))
            faults.push(`'${name}' is there, and should not be (${side})`);
        }
      }
      judgeRelations(local, remote, faults);
      learnIds(remote);
      touched = new Map();
      relatedLately = new Set();
      return faults;
    },
  };

  function nameById(id: string): string | undefined {
    const row = world.instance.store.rows.get(id);
    return row && kinds.some(({ table }) => table === row.table) ? row.values.name : undefined;
  }

  function judgeThing(name: string, local: Side, remote: Side, faults: string[]): void {
    const [card, record] = [local.things.get(name), remote.things.get(name)];
    if (!card || !record) {
      faults.push(`'${name}' is missing (${card ? '' : 'local '}${record ? '' : 'remote'})`);
      return;
    }
    for (const { card_field: path } of texts) {
      const field = told.get(name)![path];
      const [here, outside] = [card[path], record[path]];
      const allowed = [field.local, field.remote].filter((value) => value !== undefined);
      if (allowed.length === 0) allowed.push(field.agreed);
      if (here !== outside)
        faults.push(`${path} of '${name}' differs: ${here} here, ${outside} outside, of ${allowed}`);
      else if (!allowed.includes(here)) faults.push(`${path} of '${name}' is ${here}, and not ${allowed}`);
      told.get(name)![path] = { agreed: here };
    }
  }

  function judgeRelations(local: Side, remote: Side, faults: string[]): void {
    const plain = (text: string) => text.split(' > ').every((name) => there.has(name) && !disputed.has(name));
    const expected = [...relations].filter(plain).sort();
    for (const [side, { relations: found }] of Object.entries({ local, remote })) {
      const shown = found.filter(plain);
      for (const text of expected)
        if (!shown.includes(text)) faults.push(`relation ${text} is missing (${side})`);
      for (const [at, text] of shown.entries()) {
        if (!relations.has(text)) faults.push(`relation ${text} should not be there (${side})`);
        if (shown[at - 1] === text) faults.push(`relation ${text} is there twice (${side})`);
      }
    }
    relations.clear();
    for (const text of expected) relations.add(text);
  }

  /** Records that the synchronisation has made have keys by now. */
  function learnIds(remote: Side): void {
    for (const [name, { id }] of remote.things) remember(id, name);
    for (const { values } of world.instance.store.of('cmdb_rel_ci')) {
      ends.set(values.sys_id!, `${names.get(values.parent!)} > ${names.get(values.child!)}`);
    }
  }

  const begun = readRemote(world);
  for (const [name, { description, alias }] of begun.things) {
    const row = world.instance.store.rows.get(begun.things.get(name)!.id)!;
    const kind = kinds.find(({ table }) => table === row.table)!;
    expectations.created(name, kind.key, { description, alias });
  }
  learnIds(begun);
  for (const text of begun.relations) relations.add(text);
  return expectations;
}
