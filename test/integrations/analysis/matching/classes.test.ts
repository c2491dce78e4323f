import { clustersOf } from '../../../../integrations/analysis/matching/clusters.ts';
import { findDuplicates, matchLists } from '../../../../integrations/analysis/matching/match.ts';
import trained from '../../../../integrations/analysis/matching/prior.json' with { type: 'json' };
import { reasonsOf } from '../../../../integrations/analysis/matching/reasons.ts';
import { cards } from '../../../bench/matching/cards.ts';
import { furtherClasses } from '../../../bench/matching/further.ts';
import { pairKey, pairsWithin } from '../../../bench/matching/judged.ts';
import { applications, offers, shortCompanies } from '../../../bench/matching/lists.ts';
import { listOf } from '../../../bench/matching/others.ts';
import { products } from '../../../bench/matching/planted.ts';

/** Seeds that neither the training nor the bench uses. */
const SEEDS = [901, 902, 903];

const FURTHER = furtherClasses(SEEDS[0]!);

function figuresOf(difference: string) {
  let [right, found, truth] = [0, 0, 0];
  for (const seed of SEEDS) {
    const judged = applications({ size: 300, copies: 30, near: 20, differences: [difference] }, seed);
    const fields = judged.fields.filter(({ name }) => name === 'name');
    const { pairs } = findDuplicates(judged.left, { fields });
    const keys = pairsWithin(clustersOf(pairs).map(({ ids }) => ids));
    right += [...keys].filter((key) => judged.truth.has(key)).length;
    found += keys.size;
    truth += judged.truth.size;
  }
  return { precision: right / found, recall: right / truth };
}

test.each([
  ['copy', 0.9, 0.98],
  ['order', 0.9, 0.98],
  ['filler', 0.9, 0.98],
  ['slip', 0.9, 0.85],
  ['vendor', 0.9, 0.95],
  ['version', 0.9, 0.9],
  ['abbreviation', 0.9, 0.7],
])('of names that differ by %s, precision is at least %d and recall %d', (difference, precision, recall) => {
  const figures = figuresOf(difference);
  expect(figures.precision).toBeGreaterThanOrEqual(precision);
  expect(figures.recall).toBeGreaterThanOrEqual(recall);
});

test('one list of offers loses little against the same offers as two lists', () => {
  const [inOne, inTwo] = [
    { right: 0, all: 0 },
    { right: 0, all: 0 },
  ];
  for (const seed of SEEDS) {
    const { one, two } = offers({ each: 400, both: 260, again: 0.02 }, seed);
    const keys = pairsWithin(clustersOf(findDuplicates(one.left, one).pairs).map(({ ids }) => ids));
    inOne.right += [...keys].filter((key) => one.truth.has(key)).length;
    inOne.all += keys.size + one.truth.size;
    const matches = matchLists(two.left, two.right!, two).pairs.filter((pair) => pair.class === 'match');
    inTwo.right += matches.filter(({ left, right }) => two.truth.has(pairKey(left, right))).length;
    inTwo.all += matches.length + two.truth.size;
  }
  const [f1, f1OfTwo] = [inOne, inTwo].map(({ right, all }) => (2 * right) / all);
  expect(f1).toBeGreaterThan(f1OfTwo! - 0.05);
});

test.each([
  ['none', 0.5, 0],
  ['none', 1, 0.6],
  ['own', 0, 0],
  ['own', 1, 0],
  ['mixed', 1, 0.6],
] as const)('descriptions (%s) and attributes (filled %d, agreeing %d) hide few duplicates', (...plan) => {
  const [description, filled, agreeing] = plan;
  let [right, found, truth] = [0, 0, 0];
  for (const seed of SEEDS) {
    const judged = cards({ size: 300, copies: 30, description, filled, agreeing }, seed);
    const fields = judged.fields.filter(({ name }) => judged.left.some(({ values }) => values[name] ?? ''));
    const keys = pairsWithin(clustersOf(findDuplicates(judged.left, { fields }).pairs).map(({ ids }) => ids));
    right += [...keys].filter((key) => judged.truth.has(key)).length;
    found += keys.size;
    truth += judged.truth.size;
  }
  expect(right / found).toBeGreaterThan(0.95);
  expect(right / truth).toBeGreaterThan(0.8);
});

test('in groups of up to 20, the probability of a pair is the share of true ones', () => {
  const judged = listOf(products, { things: 250, share: 0.6, most: 20 }, SEEDS[0]!);
  const { pairs } = findDuplicates(judged.left, judged);
  const bins = Map.groupBy(pairs, ({ score }) => Math.min(9, Math.floor(10 * score)));
  for (const bin of [...bins.values()].filter(({ length }) => length >= 50)) {
    const reported = bin.reduce((sum, { score }) => sum + score, 0) / bin.length;
    const right = bin.filter(({ left, right: other }) => judged.truth.has(pairKey(left, other)));
    expect(Math.abs(reported - right.length / bin.length)).toBeLessThan(0.1);
  }
});

test('equal names of frequent words are no evidence where other fields differ', () => {
  // titles that many pieces of music have
  const words = 'Night Summer Love River Moon Rain Dance Fire'.split(' ');
  const others = 'Song Blues Waltz Ballad Anthem March Serenade Tango'.split(' ');
  const left = Array.from({ length: 240 }, (_, at) => ({
    id: `${1_000 + at}`,
    values: {
      name: `${words[at % 8]} ${others[Math.floor(at / 8) % 8]}`,
      artist: `${String.fromCharCode(97 + (at % 23))}rtis ${at}`,
    },
  }));
  const fields = ['name', 'artist'].map((name) => ({ name, kind: 'name' as const }));
  expect(findDuplicates(left, { fields }).pairs.filter(({ score }) => score >= 0.5)).toEqual([]);
});

test('people of one name with nothing else in common are no duplicates, and those who share most are', () => {
  const of = (what: string) => FURTHER.find(({ name }) => name === `employees: ${what}`)!.lists();
  const matches = of('no duplicates').map(
    (judged) => findDuplicates(judged.left, judged).pairs.filter(({ score }) => score >= 0.5).length,
  );
  expect(Math.max(...matches)).toBeLessThan(40);
  for (const judged of of('pairs, one list')) {
    const keys = pairsWithin(clustersOf(findDuplicates(judged.left, judged).pairs).map(({ ids }) => ids));
    const right = [...keys].filter((key) => judged.truth.has(key)).length;
    expect(right / keys.size).toBeGreaterThan(0.97);
    expect(right / judged.truth.size).toBeGreaterThan(0.85);
  }
});

test('of short lists that were described anew, nearly as many duplicates are found as by their names alone', () => {
  const [bare, described] = [false, true].map((isDescribed) => {
    let [found, truth] = [0, 0];
    for (const seed of [...SEEDS, 904, 905, 906]) {
      const plan = { size: 60, copies: 6, filled: isDescribed ? 1 : 0, described: isDescribed };
      const judged = applications(plan, seed);
      const fields = judged.fields.filter(({ name }) => judged.left.some(({ values }) => values[name]));
      const keys = pairsWithin(
        clustersOf(findDuplicates(judged.left, { fields }).pairs).map(({ ids }) => ids),
      );
      found += [...judged.truth].filter((key) => keys.has(key)).length;
      truth += judged.truth.size;
    }
    return found / truth;
  });
  expect(described).toBeGreaterThanOrEqual(bare! - 0.03);
});

test('fields in which matches agree by chance alone cost little recall', () => {
  const [none, all] = [0, 1].map((filled) => {
    const found = SEEDS.map((seed) => {
      const judged = applications({ size: 60, copies: 6, filled }, seed);
      const fields = judged.fields.filter(({ name }) => judged.left.some(({ values }) => values[name]));
      const keys = pairsWithin(
        clustersOf(findDuplicates(judged.left, { fields }).pairs).map(({ ids }) => ids),
      );
      return [...judged.truth].filter((key) => keys.has(key)).length / judged.truth.size;
    });
    return found.reduce((sum, recall) => sum + recall, 0) / found.length;
  });
  expect(all).toBeGreaterThanOrEqual(none! - 0.03);
});

test('applications are not matches of those of their business units with the same attributes', () => {
  for (const seed of SEEDS) {
    const judged = applications({ size: 300, copies: 30, units: 6, filled: 0.6 }, seed);
    const fields = judged.fields.filter(({ name }) => judged.left.some(({ values }) => values[name]));
    const { pairs } = findDuplicates(judged.left, { fields });
    const units = new Set(judged.left.slice(-6).map(({ id }) => id));
    const matches = pairs.filter((pair) => pair.class === 'match');
    expect(matches.filter(({ left, right }) => units.has(left) || units.has(right))).toEqual([]);
    expect(
      matches.filter(({ left, right }) => judged.truth.has(pairKey(left, right))).length,
    ).toBeGreaterThan(27);
  }
});

test('a list of 1,000 cards without duplicates has at most one certain match', () => {
  for (const seed of SEEDS) {
    const judged = applications({ size: 1_000, copies: 0, near: 100, filled: 0.3 }, seed);
    const fields = judged.fields.filter(({ name }) => judged.left.some(({ values }) => values[name]));
    const { pairs } = findDuplicates(judged.left, { fields });
    expect(pairs.filter(({ score }) => score >= 0.95).length).toBeLessThanOrEqual(1);
  }
});

test('two lists are matched by their own model if the prior knows no such lists', () => {
  const { two } = offers({ each: 400, both: 260, again: 0.02 }, SEEDS[0]!);
  const kinds = Object.entries(trained.kinds).map(([kind, bits]) => {
    const isName = kind === 'name' || kind === 'words';
    return [kind, bits.map((bit, bin) => (isName && bin < 9 ? 4 * Math.min(-2, bit) : bit))] as const;
  });
  const prior = { ...trained, kinds: Object.fromEntries(kinds) };
  const { pairs } = matchLists(two.left, two.right!, { ...two, prior });
  const matches = pairs.filter((pair) => pair.class === 'match');
  const right = matches.filter(({ left, right }) => two.truth.has(pairKey(left, right))).length;
  expect((2 * right) / (matches.length + two.truth.size)).toBeGreaterThan(0.9);
});

test('short names that differ in a letter are not merged', () => {
  for (const seed of SEEDS) {
    const judged = shortCompanies({ size: 400, near: 40, again: 30 }, seed);
    const wrong = findDuplicates(judged.left, judged).pairs.filter(
      ({ left, right, class: found }) => found === 'match' && !judged.truth.has(pairKey(left, right)),
    );
    expect(wrong.length).toBeLessThanOrEqual(4);
  }
});

test('parts of applications and those of other vendors are no duplicates, and the reason is given', () => {
  const names = ['Microsoft Ledger', 'Ledger', 'Ledger API', 'Ledger Batch', 'SAP Payroll', 'Oracle Payroll'];
  const { left } = applications({ size: 200, copies: 20 }, SEEDS[0]!);
  const records = [...names.map((name, at) => ({ id: `own ${at}`, values: { name } })), ...left];
  const fields = [{ name: 'name', kind: 'name' as const, without: 'vendor' }];
  const { pairs, model } = findDuplicates(records, { fields, thresholds: { match: 0.5, possible: 0 } });
  const own = pairs.filter(({ left: a, right: b }) => a.startsWith('own') && b.startsWith('own'));
  const between = (a: number, b: number) =>
    own.find((pair) => pair.left === `own ${a}` && pair.right === `own ${b}`)!;
  expect(own.filter(({ class: found }) => found === 'match')).toEqual([between(0, 1)]);
  const why = (a: number, b: number) => reasonsOf(between(a, b), records[a]!, records[b]!, model).join('\n');
  expect(why(4, 5)).toContain('The vendor differs: SAP, Oracle');
  expect(why(2, 3)).toContain('The part differs: interface, batch');
  expect(why(1, 2)).toContain('The part differs: not said, interface');
});

test.each(FURTHER.filter(({ name }) => name.includes('no duplicates') && !name.startsWith('firms')))(
  '$name: at most one certain match in 1,000',
  ({ lists }) => {
    for (const judged of lists()) {
      const { pairs } = findDuplicates(judged.left, judged);
      expect(pairs.filter(({ score }) => score >= 0.95).length).toBeLessThanOrEqual(
        Math.ceil(judged.left.length / 1_000),
      );
    }
  },
);

test.each(FURTHER.filter(({ name }) => /^applications in/.test(name)))(
  '$name: most duplicates are found',
  ({ lists }) => {
    let [right, found, truth] = [0, 0, 0];
    for (const judged of lists()) {
      const keys = pairsWithin(clustersOf(findDuplicates(judged.left, judged).pairs).map(({ ids }) => ids));
      right += [...keys].filter((key) => judged.truth.has(key)).length;
      found += keys.size;
      truth += judged.truth.size;
    }
    expect((2 * right) / (found + truth)).toBeGreaterThan(0.85);
  },
);
