import type { ListClass } from './classes.ts';
import {
  applications,
  articles,
  beers,
  firms,
  HABITS,
  hosts,
  type Kind,
  LANGUAGES,
  type Language,
  restaurants,
  staff,
  withoutForm,
} from './further.kinds.ts';
import { type Judged, List, type Values } from './judged.ts';
import { Random } from './random.ts';

interface Plan {
  things: number;
  /** The share of things that are there more than once, and how often at most. */
  share: number;
  most: number;
  /** The share of things beside which another is called nearly the same. */
  near?: number;
}

/** The names of things differ, except if their other fields tell them apart. */
function keyOf(values: Values): string {
  return JSON.stringify(values).toLowerCase();
}

function listOf(kind: Kind, { things, share, most, near = 0 }: Plan, seed: number): Judged {
  const random = new Random(seed);
  const list = new List();
  const taken = new Set<string>();
  const onlyNames = kind.name.startsWith('applications') || kind.name === 'firms';
  for (let thing = 0; thing < things; ) {
    const values = kind.make(random, thing);
    const key = onlyNames ? withoutForm(`${values.name}`).toLowerCase() : keyOf(values);
    if (taken.has(key)) {
      if (onlyNames) values.name = `${random.word()} ${values.name}`;
      else continue;
    }
    taken.add(key).add(`${values.name}`.toLowerCase());
    list.add(thing, values);
    if (random.happens(share))
      for (let times = 1 + random.below(most - 1); times > 0; times--)
        list.add(thing, kind.copy(random, values));
    if (kind.near && random.happens(near)) list.add(`near ${thing}`, kind.near(random, values));
    thing++;
  }
  const judged = list.judged(
    `${kind.name} ${JSON.stringify({ things, share, most, near, seed })}`,
    kind.fields,
  );
  return {
    ...judged,
    fields: judged.fields.filter(({ name }) => judged.left.some(({ values }) => (values[name] ?? '') !== '')),
  };
}

/** Pairs in two lists, and both lists in one. */
function bothWays(kind: Kind, seed: number): { one: Judged; two: Judged } {
  const one = listOf(kind, { things: 500, share: 0.3, most: 2 }, seed);
  const copies = new Set([...one.truth].map((key) => (JSON.parse(key) as [string, string])[1]));
  const random = new Random(seed + 1);
  const rights = new Set(one.left.filter(({ id }) => copies.has(id)).map(({ id }) => id));
  const originals = new Set([...one.truth].map((key) => (JSON.parse(key) as [string, string])[0]));
  for (const { id } of one.left)
    if (!originals.has(id) && !copies.has(id) && random.happens(0.5)) rights.add(id);
  const of = (isRight: boolean) => one.left.filter(({ id }) => rights.has(id) === isRight);
  return { one, two: { ...one, name: `${one.name}, two lists`, left: of(false), right: of(true) } };
}

const several = (
  name: string,
  isTrained: boolean,
  seeds: readonly number[],
  make: (seed: number) => Judged,
): FurtherClass => ({ name, isTrained, lists: () => seeds.map(make) });

/** Lists of one class, and whether the prior is trained with such lists of other seeds. */
interface FurtherClass extends ListClass {
  isTrained: boolean;
}

const TRAINED_KINDS = [restaurants, beers, firms];
const TRAINED_LANGUAGES: readonly Language[] = ['en', 'de', 'fr'];

/** Lists of further kinds, words and languages than those of listClasses; `from` is the first seed. */
export function furtherClasses(from: number): FurtherClass[] {
  const seeds = (count: number) => Array.from({ length: count }, (_, at) => from + at);
  const kinds = [...TRAINED_KINDS, staff, articles, hosts].map((kind) => ({
    kind,
    isTrained: TRAINED_KINDS.includes(kind),
  }));
  const bare = { kind: applications(LANGUAGES, 0), isTrained: true };
  const pairs = [bare.kind, applications(LANGUAGES, 0.6)].map((kind) => ({ kind, isTrained: false }));
  return [
    ...[...kinds, ...pairs].flatMap(({ kind, isTrained }) => [
      several(`${kind.name}: pairs, one list`, isTrained, seeds(2), (seed) => bothWays(kind, seed).one),
      several(`${kind.name}: pairs, two lists`, isTrained, seeds(2), (seed) => bothWays(kind, seed).two),
    ]),
    ...[...kinds, bare].flatMap(({ kind, isTrained }) => [
      several(`${kind.name}: groups of up to 20`, isTrained, seeds(1), (seed) =>
        listOf(kind, { things: 150, share: 0.6, most: 20, near: 0.1 }, seed),
      ),
      several(`${kind.name}: no duplicates`, isTrained, seeds(2), (seed) =>
        listOf(kind, { things: 900, share: 0, most: 2, near: 0.11 }, seed),
      ),
    ]),
    ...LANGUAGES.map((language) =>
      several(`applications in ${language}`, TRAINED_LANGUAGES.includes(language), seeds(6), (seed) =>
        listOf(applications([language], 0.3), { things: 80, share: 0.12, most: 2, near: 0.1 }, seed),
      ),
    ),
    ...[0, 0.3, 0.6, 1].flatMap((filled) => {
      const kind = applications(LANGUAGES, filled);
      return [
        several(`20 to 70 applications, filled ${filled}`, true, seeds(12), (seed) =>
          listOf(kind, { things: 20 + 4 * (seed - from), share: 0.15, most: 2, near: 0.1 }, seed),
        ),
        several(`600 applications, filled ${filled}`, true, seeds(2), (seed) =>
          listOf(kind, { things: 600, share: 0.1, most: 3, near: 0.1 }, seed),
        ),
        several(`1,000 applications, filled ${filled}, no duplicates`, true, seeds(3), (seed) =>
          listOf(kind, { things: 900, share: 0, most: 2, near: 0.11 }, seed),
        ),
      ];
    }),
    ...Object.keys(HABITS).map((habit) =>
      several(`applications, habit ${habit}`, true, seeds(3), (seed) =>
        listOf(applications(LANGUAGES, 0.2, [habit]), { things: 400, share: 0.1, most: 2, near: 0.05 }, seed),
      ),
    ),
    several('slips only, names only', true, seeds(3), (seed) =>
      listOf(applications(LANGUAGES, 0, ['slip']), { things: 500, share: 0.1, most: 2, near: 0.05 }, seed),
    ),
  ];
}
