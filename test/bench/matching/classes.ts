import { cards } from './cards.ts';
import type { Judged } from './judged.ts';
import { applications, companies, DIFFERENCES, numbered, offers, shortCompanies } from './lists.ts';
import { listOf } from './others.ts';
import { KINDS } from './planted.ts';

/** Lists of one class; their results are added up. */
export interface ListClass {
  name: string;
  lists: () => Judged[];
}

const severalFrom =
  (from: number) =>
  (name: string, count: number, make: (seed: number) => Judged): ListClass => ({
    name,
    lists: () => Array.from({ length: count }, (_, at) => valued(make(from + 100 + at))),
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

/** Cards with attributes and descriptions that say the same as those of their copies, or not. */
const describedCards = (from: number): ListClass[] =>
  (['none', 'same', 'own', 'mixed'] as const).flatMap((description) =>
    [0, 0.5, 1].map((filled) => {
      const plans = (filled === 0 ? [0] : [0, 0.6, 1]).map((agreeing) => ({ description, filled, agreeing }));
      const short = (seed: number) => plans.map((plan) => cards({ size: 60, copies: 6, ...plan }, seed));
      const long = (seed: number) => plans.map((plan) => cards({ size: 300, copies: 30, ...plan }, seed));
      return {
        name: `60 and 300 cards, descriptions: ${description}, attributes filled: ${filled}`,
        lists: () => [
          ...[501, 502, 503, 504, 505, 506]
            .map((seed) => from + seed)
            .flatMap(short)
            .map(valued),
          ...[521, 522]
            .map((seed) => from + seed)
            .flatMap(long)
            .map(valued),
        ],
      };
    }),
  );

/** Offers of few products, and of many of which few are in both shops; in one list and in two. */
const fewOffers = (from: number): ListClass[] =>
  [
    { name: 'offers of 400 goods', plan: { each: 400, both: 260, again: 0.02 }, seeds: [3, 4, 5] },
    { name: 'offers of 120 software', plan: { each: 120, both: 60, software: true }, seeds: [4, 5] },
    {
      name: 'offers of 700 software, few in both',
      plan: { each: 700, both: 100, software: true },
      seeds: [6],
    },
  ].flatMap(({ name, plan, seeds }) => [
    { name: `${name}, one list`, lists: () => seeds.map((seed) => offers(plan, from + seed).one) },
    { name: `${name}, two lists`, lists: () => seeds.map((seed) => offers(plan, from + seed).two) },
  ]);

const groups = (from: number): ListClass[] =>
  KINDS.flatMap((kind) => [
    {
      name: `groups of up to 20: ${kind.name}`,
      lists: () => [listOf(kind, { things: 250, share: 0.6, most: 20 }, from + 61)],
    },
    {
      name: `groups of up to 8: ${kind.name}`,
      lists: () => [listOf(kind, { things: 400, share: 0.3, most: 8 }, from + 62)],
    },
  ]);

/**
 * Ordinary lists of cards by class: offers, groups, sparse fields, lists without duplicates, differences by kind, companies. Others of
 * the same classes begin with another seed.
 */
export function listClasses(from = 0): ListClass[] {
  const several = severalFrom(from);
  const goods = { each: 1_400, both: 900, again: 0.02 };
  const software = { each: 1_400, both: 900, software: true };
  return [
    ...[1, 2].flatMap((seed) => [
      { name: `offers of goods ${seed}, one list`, lists: () => [offers(goods, from + seed).one] },
      { name: `offers of goods ${seed}, two lists`, lists: () => [offers(goods, from + seed).two] },
      { name: `offers of software ${seed}, one list`, lists: () => [offers(software, from + seed).one] },
      { name: `offers of software ${seed}, two lists`, lists: () => [offers(software, from + seed).two] },
    ]),
    ...fewOffers(from),
    ...groups(from),
    ...SPARSE.map(([name, filled]) =>
      several(`60 cards, attributes filled: ${name}`, 8, (seed) =>
        applications({ size: 60, copies: 6, filled }, seed),
      ),
    ),
    several('60 cards, attributes filled: all, descriptions of their own', 8, (seed) =>
      applications({ size: 60, copies: 6, filled: 1, described: true }, seed),
    ),
    ...describedCards(from),
    several('1,500 cards, some attributes and descriptions agree', 1, (seed) =>
      cards({ size: 1_500, copies: 150, description: 'mixed', filled: 0.6, agreeing: 0.6 }, seed),
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
