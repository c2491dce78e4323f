import type { Judged } from './judged.ts';
import { applications, companies, DIFFERENCES, numbered, offers, shortCompanies } from './lists.ts';

/** Lists of one class; their results are added up. */
export interface ListClass {
  name: string;
  lists: () => Judged[];
}

const several = (name: string, count: number, make: (seed: number) => Judged): ListClass => ({
  name,
  lists: () => Array.from({ length: count }, (_, at) => valued(make(100 + at))),
});

/** Without fields that no record has, as they are left out for cards. */
const valued = (judged: Judged): Judged => ({
  ...judged,
  fields: judged.fields.filter(({ name }) => judged.left.some(({ values }) => (values[name] ?? '') !== '')),
});

const named = (judged: Judged): Judged => ({
  ...judged,
  fields: judged.fields.filter(({ name }) => name === 'name'),
});

const SPARSE = [
  ['none', 0],
  ['one card', 'one'],
  ['half', 0.5],
  ['all', 1],
] as const;

/** Ordinary lists of cards by class: offers, sparse fields, lists without duplicates, differences by kind, companies. */
export function listClasses(): ListClass[] {
  const goods = { each: 1_400, both: 900, again: 0.02 };
  const software = { each: 1_400, both: 900, software: true };
  return [
    ...[1, 2].flatMap((seed) => [
      { name: `offers of goods ${seed}, one list`, lists: () => [offers(goods, seed).one] },
      { name: `offers of goods ${seed}, two lists`, lists: () => [offers(goods, seed).two] },
      { name: `offers of software ${seed}, one list`, lists: () => [offers(software, seed).one] },
      { name: `offers of software ${seed}, two lists`, lists: () => [offers(software, seed).two] },
    ]),
    ...SPARSE.map(([name, filled]) =>
      several(`60 cards, attributes filled: ${name}`, 8, (seed) =>
        applications({ size: 60, copies: 6, filled }, seed),
      ),
    ),
    several('60 cards, attributes filled: all, descriptions of their own', 8, (seed) =>
      applications({ size: 60, copies: 6, filled: 1, described: true }, seed),
    ),
    several('300 cards, descriptions of their own', 3, (seed) =>
      applications({ size: 300, copies: 30, near: 20, described: true }, seed),
    ),
    ...[60, 300].map((size) =>
      several(`${size} cards, and some for business units`, 4, (seed) =>
        applications({ size, copies: size / 10, units: 6, filled: 0.6 }, seed),
      ),
    ),
    ...(
      [
        [60, 15],
        [300, 5],
        [1_000, 3],
      ] as const
    ).map(([size, count]) =>
      several(`${size} cards without duplicates`, count, (seed) =>
        applications({ size, copies: 0, near: Math.round(size / 10), filled: size < 1_000 ? 0 : 0.3 }, seed),
      ),
    ),
    ...Object.keys(DIFFERENCES).map((difference) =>
      several(`difference: ${difference}`, 3, (seed) =>
        applications({ size: 400, copies: 40, near: 20, differences: [difference], filled: 0.2 }, seed),
      ),
    ),
    several('slips in 2,000 cards', 1, (seed) =>
      applications({ size: 2_000, copies: 200, near: 100, differences: ['slip'], filled: 0.5 }, seed),
    ),
    several('names only', 4, (seed) => named(applications({ size: 300, copies: 30, near: 30 }, seed))),
    several('names only, no duplicates', 4, (seed) =>
      named(applications({ size: 400, copies: 0, near: 40 }, seed)),
    ),
    several('numbered names', 2, (seed) => numbered({ size: 1_275, exact: 25, bare: 20 }, seed)),
    several('numbered names, no duplicates', 1, (seed) => numbered({ size: 1_275, exact: 0, bare: 0 }, seed)),
    several('companies as people write them', 2, (seed) =>
      companies({ size: 1_000, share: 0.4, most: 6 }, seed),
    ),
    several('companies of short names', 3, (seed) =>
      shortCompanies({ size: 400, near: 40, again: 30 }, seed),
    ),
    several('companies, few duplicates', 3, (seed) => companies({ size: 300, share: 0.1, most: 2 }, seed)),
  ];
}
