import { EstateError } from '../../../platform/errors.ts';
import { pick, type Random } from '../../bench/landscape/random.ts';
import type { Fault } from '../../emulators/servicenow/faults.ts';
import { openChronicle, paths, type SideName, type Story, sides } from './chronicle.ts';
import { judgeStory } from './judge.ts';
import { applications, components, type Kind } from './landscape.ts';
import { askedAbout, readLocal, readRemote, type Side, type World } from './world.ts';

/** What must be there in the end, by what people have done. */
export interface Expectations {
  /** A thing to be changed or removed on a side; nobody else chooses to remove it there any more. */
  choose(random: Random, side: SideName, what: 'edit' | 'remove'): string | undefined;
  /** An application and a component that are not related, to be related by whoever asks. */
  chooseEnds(random: Random): [string, string] | undefined;
  /** A relation to be removed by whoever asks. */
  chooseRelation(random: Random): [string, string] | undefined;
  recordOf(name: string): string | undefined;
  related(source: string, target: string, there: boolean): void;
  /** Takes in what has happened on both sides. */
  learn(): Promise<void>;
  /** What somebody could not do. */
  failed(error: Error): void;
  /** Compares both sides with what people have done. @param faults what has befallen the remote meanwhile. */
  judge(faults: ReadonlySet<Fault>): Promise<string[]>;
}

/** What somebody may meet who acts while others do: the thing is gone, or not as it was. */
const expectable: ReadonlySet<string> = new Set(['not_found', 'wrong_state', 'relation_exists']);

export async function createExpectations(world: World): Promise<Expectations> {
  const relations = new Set<string>();
  /** Relations that somebody has chosen since both sides were last at rest: nobody else does. */
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
  const chronicle = await openChronicle(world, related);
  for (const ends of chronicle.relations.values()) relations.add(ends);

  const isThere = (name: string): boolean => {
    const story = chronicle.stories.get(name);
    if (!story || disputed.has(name) || sides.some((side) => leaving[side].has(name))) return false;
    return sides.every((side) => story[side].removedBy === undefined);
  };

  return {
    choose(random, side, what) {
      const all = [...chronicle.stories.keys()];
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
        [...chronicle.stories.values()].flatMap(({ name, kind }) =>
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
    recordOf: (name) => chronicle.stories.get(name)?.remote.id,
    related: (source, target, there) => related(`${source} > ${target}`, there),
    learn: chronicle.read,
    failed(error) {
      if (error instanceof EstateError && expectable.has(error.code)) return;
      troubles.push(`somebody could not work: ${error.stack}`);
    },
    async judge(befallen) {
      await chronicle.read();
      const faults = [...troubles.splice(0), ...chronicle.judge()];
      const local = await readLocal(world);
      const remote = readRemote(world);
      const questions = await askedAbout(world, 'remote_id');
      for (const story of chronicle.stories.values()) {
        const verdict = judgeStory(story, questions.has(story.remote.id ?? ''), befallen);
        faults.push(...verdict.faults);
        if (verdict.disputed) disputed.add(story.name);
        else disputed.delete(story.name);
      }
      for (const [name, side] of [
        ['local', local],
        ['remote', remote],
      ] as const) {
        faults.push(...asTold(side, name, chronicle.stories));
      }
      judgeRelations(local, remote, faults);
      chronicle.rest();
      relatedLately = new Set();
      leaving = { local: new Set(), remote: new Set() };
      chosen = [];
      return faults;
    },
  };

  function judgeRelations(local: Side, remote: Side, faults: string[]): void {
    const isPlain = (ends: string) =>
      ends.split(' > ').every((name) => {
        const story = chronicle.stories.get(name);
        return story?.local.there && story.remote.there;
      });
    const expected = [...relations].filter(isPlain).sort();
    for (const [side, { relations: found }] of Object.entries({ local, remote })) {
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

/** Whether a side is as its journal tells: what is judged by the journals is judged by what is really there. */
function asTold(side: Side, name: SideName, stories: ReadonlyMap<string, Story>): string[] {
  const faults = side.doubled.map((one) => `'${one}' is there twice (${name})`);
  const told = new Set<string>();
  for (const story of stories.values()) {
    if (!story[name].there) continue;
    told.add(story.name);
    const thing = side.things.get(story.name);
    if (!thing) faults.push(`'${story.name}' is not there, and nobody has removed it (${name})`);
    else if (paths.some((path) => (thing[path] ?? '') !== story[name].held[path]))
      faults.push(`'${story.name}' is not as its journal tells (${name})`);
  }
  for (const one of side.things.keys())
    if (!told.has(one)) faults.push(`'${one}' is there, and its journal does not tell of it (${name})`);
  return faults;
}
