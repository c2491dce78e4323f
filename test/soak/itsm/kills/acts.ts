import { pick, type Random } from '../../../bench/landscape/random.ts';
import { create, edit, relate, remove, unrelate } from '../actions.ts';
import { type SideName, sides } from '../journal.ts';
import { applications, components, type Kind, kinds, texts } from '../landscape.ts';
import { readSides, type World } from '../world.ts';

/** What people do on one side; things are named, so that the same can be done in two worlds. */
export type Act = (world: World) => Promise<void>;

/** How often each is done before a run, on either side. */
export interface ActCounts {
  edits: number;
  conflicts: number;
  creations: number;
  removals: number;
  relations: number;
}

/** What people do on both sides of a world as it is, each thing touched at most once but for conflicts. */
export async function createActs(world: World, random: Random, actCounts: ActCounts): Promise<Act[]> {
  // of nothing but letters and digits, so that no two of them are alike
  const word = () => Array.from({ length: 3 }, () => Math.floor(random() * 2 ** 31).toString(36)).join('');
  const there = await readSides(world);
  const touched = new Set<string>();
  /** Something that nobody has touched, and that is there on these sides. */
  const free = (...on: SideName[]): string | undefined => {
    const names = [...there[on[0]!].things.keys()]
      .filter((name) => !touched.has(name) && on.every((side) => there[side].things.has(name)))
      .sort();
    const name = names.length > 0 ? pick(random, names) : undefined;
    if (name !== undefined) touched.add(name);
    return name;
  };
  const acts: Act[] = [];
  const add = (act: (own: World) => Promise<boolean>) =>
    acts.push(async (own) => {
      if (!(await act(own))) throw new Error('an act of a person cannot be done');
    });
  const times = (count: number, act: () => void) => {
    for (let at = 0; at < count; at += 1) act();
  };
  for (const side of sides) {
    times(actCounts.removals, () => {
      const name = free(side);
      if (name) add((own) => remove[side](own, name));
    });
    times(actCounts.edits, () => {
      const name = free(side);
      if (!name) return;
      const [text, value] = [pick(random, texts), word()];
      add((own) => edit[side](own, name, text, value));
    });
    times(actCounts.creations, () => {
      const kind = pick(random, kinds);
      const [name, description] = [`${kind.noun} ${word()}`, word()];
      add((own) => create[side](own, kind, name, description));
    });
  }
  times(actCounts.conflicts, () => {
    const name = free(...sides);
    if (!name) return;
    const text = pick(random, texts);
    for (const side of sides) {
      const value = word();
      add((own) => edit[side](own, name, text, value));
    }
  });
  const related = new Set(sides.flatMap((side) => there[side].relations));
  for (const side of sides) {
    const calm = (text: string) => text.split(' > ').every((name) => !touched.has(name));
    const plain = [...there[side].things.keys()].filter((name) => !touched.has(name)).sort();
    const named = ({ noun }: Kind) => plain.filter((name) => name.startsWith(noun));
    const [sources, targets] = [named(applications), named(components)];
    times(actCounts.relations, () => {
      if (sources.length === 0 || targets.length === 0) return;
      const [source, target] = [pick(random, sources), pick(random, targets)];
      if (related.has(`${source} > ${target}`)) return;
      related.add(`${source} > ${target}`);
      add((own) => relate[side](own, source, target));
    });
    times(actCounts.relations, () => {
      const free = there[side].relations.filter((text) => calm(text) && related.has(text));
      if (free.length === 0) return;
      const text = pick(random, free);
      related.delete(text);
      const [source = '', target = ''] = text.split(' > ');
      add((own) => unrelate[side](own, source, target));
    });
  }
  return acts;
}
