import fc from 'fast-check';
import { clustersOf } from '../../../../integrations/analysis/matching/clusters.ts';
import { findDuplicates } from '../../../../integrations/analysis/matching/match.ts';
import type { MatchPair } from '../../../../integrations/analysis/matching/matching.types.ts';
import { forAll } from '../../../support/property.ts';

const pair = (left: string, right: string, score: number): MatchPair => ({
  left,
  right,
  score,
  class: score >= 0.5 ? 'match' : 'possible',
  alone: score,
  evidence: [],
});

test('records that all match each other are one cluster', () => {
  const pairs = [pair('a', 'b', 0.9), pair('b', 'c', 0.8), pair('a', 'c', 0.7), pair('d', 'e', 0.6)];
  expect(clustersOf(pairs)).toEqual([
    { ids: ['a', 'b', 'c'], cohesion: 0.8 },
    { ids: ['d', 'e'], cohesion: 0.6 },
  ]);
});

test('one likely pair does not chain groups of strangers', () => {
  const pairs = [pair('a', 'b', 0.99), pair('c', 'd', 0.98), pair('b', 'c', 0.97)];
  expect(clustersOf(pairs).map(({ ids }) => ids)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test('a bound may be higher than what makes a match', () =>
  expect(clustersOf([pair('a', 'b', 0.8)], 0.9)).toEqual([]));

test('no record is in two clusters, and the order of the pairs does not matter', () => {
  const id = fc.integer({ min: 0, max: 9 }).map((number) => `r${number}`);
  const score = fc.integer({ min: 1, max: 100 }).map((number) => number / 100);
  const pairs = fc
    .uniqueArray(fc.tuple(id, id, score), { selector: ([a, b]) => [a, b].sort().join() })
    .map((all) =>
      all
        .filter(([a, b]) => a !== b)
        .map(([a, b, likely]) => (a < b ? pair(a, b, likely) : pair(b, a, likely))),
    );
  forAll(100, [pairs], (given) => {
    const clusters = clustersOf(given);
    const ids = clusters.flatMap((cluster) => cluster.ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(clusters.every(({ ids, cohesion }) => ids.length > 1 && cohesion >= 0 && cohesion <= 1)).toBe(
      true,
    );
    expect(clustersOf(given.toReversed())).toEqual(clusters);
  });
});

test('copies in one list come together as often as they are there', () => {
  const names = [
    'Ledger of accounts',
    'Payroll archive',
    'Claims portal',
    'Freight planner',
    'Stock register',
  ];
  const records = names.flatMap((name, group) =>
    Array.from({ length: (group % 3) + 1 }, (_, copy) => ({ id: `${group}${copy}`, values: { name } })),
  );
  const { pairs } = findDuplicates(records, { fields: [{ name: 'name', kind: 'name' }] });
  expect(clustersOf(pairs).map(({ ids }) => ids)).toEqual([
    ['10', '11'],
    ['20', '21', '22'],
    ['40', '41'],
  ]);
});
