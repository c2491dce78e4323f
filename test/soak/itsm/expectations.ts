import { EstateError } from '../../../platform/errors.ts';
import { pick, type Random } from '../../bench/landscape/random.ts';
import type { Fault } from '../../emulators/servicenow/faults.ts';
import type { Item, Path, SideName, Written } from './journal.ts';
import { NOTHING, openJournal, paths, sides } from './journal.ts';
import { applications, components, type Kind, texts } from './landscape.ts';
import { askedAbout, readSides, type Side, type World } from './world.ts';

/** What must be there in the end, by what people have done. */
export interface Expectations {
  /** A thing to be changed or removed on a side; nobody else chooses to remove it there any more. */
  choose(random: Random, side: SideName, what: 'edit' | 'remove'): string | undefined;
  /** An application and a component that are not related, to be related by the caller. */
  chooseEnds(random: Random): [string, string] | undefined;
  /** A relation to be removed by the caller. */
  chooseRelation(random: Random): [string, string] | undefined;
  related(source: string, target: string, there: boolean): void;
  /** Takes in what has happened on both sides. */
  learn(): Promise<void>;
  /** What somebody could not do. */
  failed(error: Error): void;
  /** Compares both sides with what people have done. @param faults faults of the remote meanwhile. */
  check(faults: ReadonlySet<Fault>): Promise<string[]>;
}

/** What somebody may meet who acts while others do: the thing is gone, or not as it was. */
const expectable: ReadonlySet<string> = new Set(['not_found', 'wrong_state', 'relation_exists']);

export async function createExpectations(world: World): Promise<Expectations> {
  const relations = new Set<string>();
  /** Relations that somebody has chosen since both sides last agreed; nobody else chooses them. */
  let relatedLately = new Set<string>();
  /** Things that somebody has chosen since, to change or to remove. */
  let chosen: string[] = [];
  let leaving: Record<SideName, Set<string>> = { local: new Set(), remote: new Set() };
  /** Removed on one side and changed on the other: a person has to say what is to become of it. */
  const disputed = new Set<string>();
  const troubles: string[] = [];

  const related = (ends: string, is: boolean) => {
    relatedLately.add(ends);
    if (is) relations.add(ends);
    else relations.delete(ends);
  };
  const journal = await openJournal(world, related);
  for (const ends of journal.relations.values()) relations.add(ends);

  const isThere = (name: string): boolean => {
    const item = journal.items.get(name);
    if (!item || disputed.has(name) || sides.some((side) => leaving[side].has(name))) return false;
    return sides.every((side) => item[side].removedBy === undefined);
  };

  return {
    choose(random, side, what) {
      const all = [...journal.items.keys()];
      for (let at = 0; at < 20 && all.length > 0; at += 1) {
        // often what others are at too
        const name = chosen.length > 0 && random() < 0.3 ? pick(random, chosen) : pick(random, all);
        if (disputed.has(name) || leaving[side].has(name)) continue;
        if (what === 'remove') leaving[side].add(name);
        chosen.push(name);
        return name;
      }
      return undefined;
    },
    chooseEnds(random) {
      const of = (key: Kind['key']) =>
        [...journal.items.values()].flatMap(({ name, kind }) =>
          kind === key && isThere(name) ? [name] : [],
        );
      const [sources, targets] = [of(applications.key), of(components.key)];
      for (let at = 0; at < 20; at += 1) {
        const [source, target] = [pick(random, sources), pick(random, targets)];
        const ends = `${source} > ${target}`;
        if (relations.has(ends) || relatedLately.has(ends)) continue;
        relatedLately.add(ends);
        return [source, target];
      }
      return undefined;
    },
    chooseRelation(random) {
      const free = [...relations].filter((ends) => !relatedLately.has(ends));
      if (free.length === 0) return undefined;
      const ends = pick(random, free);
      relatedLately.add(ends);
      return ends.split(' > ') as [string, string];
    },
    related: (source, target, there) => related(`${source} > ${target}`, there),
    learn: journal.read,
    failed(error) {
      if (error instanceof EstateError && expectable.has(error.code)) return;
      troubles.push(`somebody could not work: ${error.stack}`);
    },
    async check(fired) {
      await journal.read();
      const faults = [...troubles.splice(0), ...journal.check()];
      const found = await readSides(world);
      const questions = await askedAbout(world, 'remote_id');
      for (const item of journal.items.values()) {
        const result = checkItem(item, questions.has(item.remote.id ?? ''), fired);
        faults.push(...result.faults);
        if (result.disputed) disputed.add(item.name);
        else disputed.delete(item.name);
      }
      for (const side of sides) faults.push(...compareWithJournal(found[side], side, journal.items));
      checkRelations(found, faults);
      journal.settle();
      relatedLately = new Set();
      leaving = { local: new Set(), remote: new Set() };
      chosen = [];
      return faults;
    },
  };

  function checkRelations(present: Record<SideName, Side>, faults: string[]): void {
    const isPlain = (ends: string) =>
      ends.split(' > ').every((name) => {
        const item = journal.items.get(name);
        return item?.local.there && item.remote.there;
      });
    const expected = [...relations].filter(isPlain).sort();
    for (const [side, { relations: found }] of Object.entries(present)) {
      const shown = found.filter(isPlain);
      for (const ends of expected)
        if (!shown.includes(ends)) faults.push(`relation ${ends} is missing (${side})`);
      for (const [at, ends] of shown.entries()) {
        if (!relations.has(ends)) faults.push(`relation ${ends} should not be there (${side})`);
        if (shown[at - 1] === ends) faults.push(`relation ${ends} is there twice (${side})`);
      }
    }
    relations.clear();
    for (const ends of expected) relations.add(ends);
  }
}

/** Compares a side with its journal. */
function compareWithJournal(side: Side, name: SideName, items: ReadonlyMap<string, Item>): string[] {
  const faults = side.doubled.map((one) => `'${one}' is there twice (${name})`);
  const inJournal = new Set<string>();
  for (const item of items.values()) {
    if (!item[name].there) continue;
    inJournal.add(item.name);
    const thing = side.things.get(item.name);
    if (!thing) faults.push(`'${item.name}' is not there, and nobody has removed it (${name})`);
    else if (paths.some((path) => (thing[path] ?? '') !== item[name].held[path]))
      faults.push(`'${item.name}' differs from its journal (${name})`);
  }
  for (const one of side.things.keys())
    if (!inJournal.has(one)) faults.push(`'${one}' is there, and its journal does not contain it (${name})`);
  return faults;
}

/** Faults by which the answer to a write is lost that was done. */
const losing: readonly Fault[] = ['reset_after_write', 'truncated_json'];

const other = (side: SideName): SideName => (side === 'local' ? 'remote' : 'local');

/** The side whose value wins where both have written one without knowing of the other's. */
const winnerOf = (path: Path): SideName =>
  texts.find(({ card_field }) => card_field === path)!.direction === 'remote_leads' ? 'remote' : 'local';

/**
 * Judges one thing now that both sides are at rest.
 * @param asked whether a question about its removal is open.
 * @param fired faults of the remote meanwhile.
 * @returns `disputed`: it is left on one side, rightly, until a person has said what is to become of it.
 */
function checkItem(item: Item, asked: boolean, fired: ReadonlySet<Fault>) {
  const { name, local, remote, root } = item;
  const faults: string[] = [];
  const verdict = { faults, disputed: false };
  if (root === undefined) faults.push(`'${name}' was made by nobody`);
  const removers = sides.filter((side) => item[side].removedBy === 'person');
  for (const side of sides) {
    if (removers.includes(side) && item[side].there)
      faults.push(`'${name}' is there again, though somebody has removed it (${side})`);
  }
  if (removers.length === 0) {
    for (const side of sides) if (!item[side].there) faults.push(`'${name}' is missing (${side})`);
    if (local.there && remote.there) for (const path of paths) checkField(item, path, fired, faults);
    return verdict;
  }
  if (removers.length === 2) return verdict;
  const left = other(removers[0]!);
  const unseen = paths.filter((path) => isUnseen(item, left, path));
  if (item[left].there) {
    verdict.disputed = true;
    if (!asked) faults.push(`'${name}' is left, and nobody is asked about it (${left})`);
    else if (unseen.length === 0 && !hasWritten(item, left))
      faults.push(`'${name}' is left, though nobody has changed it (${left})`);
  } else if (unseen.length > 0 && !item[left].removedUnseen) {
    const lost = unseen.map((path) => `${path} ${item[left].held[path]}`).join(', ');
    faults.push(`'${name}' was removed though somebody had changed it: ${lost} (${left})`);
  }
  return verdict;
}

const hasWritten = (item: Item, side: SideName): boolean =>
  paths.some((path) => [...item.written[path].values()].some((one) => one.side === side && !one.atFirst));

/** Whether a value that a person has written on a side has never come to the other. */
function isUnseen(item: Item, side: SideName, path: Path): boolean {
  const value = item[side].held[path];
  return item.written[path].get(value)?.side === side && !item[other(side)].ever[path].has(value);
}

/**
 * A field holds the same on both sides: a value that nobody has replaced. Any other such value has given way to one of
 * the side that leads, of which its writer did not know.
 */
function checkField(item: Item, path: Path, fired: ReadonlySet<Fault>, faults: string[]): void {
  const { name, local, remote, root } = item;
  const written = item.written[path];
  const [here, outside] = [local.held[path], remote.held[path]];
  if (here !== outside) {
    faults.push(
      `${path} of '${name}' differs: ${here} here, ${outside} outside; ${valuesWritten(item, path)}`,
    );
    return;
  }
  const replaced = new Set([...written.values()].map(({ seen }) => seen));
  const standing = [root?.[path] ?? NOTHING, ...written.keys()].filter((value) => !replaced.has(value));
  const winner = winnerOf(path);
  const lostBefore = losing.some((fault) => fired.has(fault));
  const isBefore = (earlier: string, later: string) => ancestors(written, later).includes(earlier);
  for (const value of standing) {
    if (value === here) continue;
    const loser = written.get(value)?.side === other(winner);
    const to = [here, ...ancestors(written, here)].find((one) => {
      const by = written.get(one);
      // a write whose answer was lost cannot be distinguished from one that was not done when its value was replaced there since
      if (lostBefore && by && written.get(value)?.side === 'remote' && isBefore(one, value)) return true;
      return by?.side === winner && !isBefore(one, value) && !isBefore(value, one);
    });
    if (!loser || to === undefined)
      faults.push(`${path} of '${name}' lost ${value} and is ${here}; ${valuesWritten(item, path)}`);
  }
  if (!standing.includes(here) && !lostBefore)
    faults.push(`${path} of '${name}' went back to ${here}; ${valuesWritten(item, path)}`);
}

/** The values that led to one, newest first. */
function ancestors(written: ReadonlyMap<string, Written>, value: string): string[] {
  const found: string[] = [];
  for (let one = written.get(value); one && !found.includes(one.seen); one = written.get(one.seen))
    found.push(one.seen);
  return found;
}

const valuesWritten = ({ root, written }: Item, path: Path): string =>
  `at first '${root?.[path]}'${[...written[path]].map(([value, { side, seen }]) => `, ${side} '${seen}' > '${value}'`).join('')}`;
