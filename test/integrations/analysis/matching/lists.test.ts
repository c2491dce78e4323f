import { clustersOf } from '../../../../integrations/analysis/matching/clusters.ts';
import { findDuplicates } from '../../../../integrations/analysis/matching/match.ts';
import { type Judged, pairKey } from '../../../bench/matching/judged.ts';
import { applications, numbered, offers } from '../../../bench/matching/lists.ts';

/** What is found in some lists: the share that is true, the share of the true pairs, and the false pairs from 0.95. */
function figuresOf(lists: readonly Judged[]) {
  let [right, found, truth, falselyCertain] = [0, 0, 0, 0];
  for (const { left, fields, truth: known } of lists) {
    const valued = fields.filter(({ name }) => left.some(({ values }) => (values[name] ?? '') !== ''));
    const { pairs } = findDuplicates(left, { fields: valued });
    const keys = clustersOf(pairs).flatMap(({ ids }) =>
      ids.flatMap((id, at) => ids.slice(at + 1).map((other) => pairKey(id, other))),
    );
    right += keys.filter((key) => known.has(key)).length;
    found += keys.length;
    truth += known.size;
    falselyCertain += pairs.filter(
      ({ score, left: a, right: b }) => score >= 0.95 && !known.has(pairKey(a, b)),
    ).length;
  }
  return { precision: right / (found || 1), recall: right / (truth || 1), found, falselyCertain };
}

const seeded = (count: number, make: (seed: number) => Judged): Judged[] =>
  Array.from({ length: count }, (_, at) => make(7_000 + at));

test('offers of two shops are matched in one list', () => {
  const { precision, recall } = figuresOf([offers({ each: 500, both: 300, software: true }, 7_001).one]);
  expect(precision).toBeGreaterThan(0.75);
  expect(recall).toBeGreaterThan(0.6);
});

test.each(['one', 0, 0.5, 1] as const)('attributes hide no duplicate of short lists: filled %s', (filled) => {
  const { precision, recall } = figuresOf(
    seeded(6, (seed) => applications({ size: 60, copies: 6, filled }, seed)),
  );
  expect(precision).toBeGreaterThan(0.8);
  expect(recall).toBeGreaterThan(0.75);
});

test('lists without duplicates have no certain matches', () => {
  const lists = [
    ...seeded(4, (seed) => applications({ size: 300, copies: 0, near: 30 }, seed)),
    ...seeded(1, (seed) => applications({ size: 1_000, copies: 0, near: 100, filled: 0.3 }, seed)),
  ];
  expect(figuresOf(lists).falselyCertain).toBeLessThanOrEqual(2);
});

test('copies of numbered names are found', () => {
  const { precision, recall } = figuresOf([numbered({ size: 1_275, exact: 25, bare: 20 }, 7_002)]);
  expect(precision).toBeGreaterThan(0.8);
  expect(recall).toBeGreaterThan(0.95);
});
