import { createHash } from 'node:crypto';
import { clustersOf } from '../../../../integrations/analysis/matching/clusters.ts';
import { findDuplicates } from '../../../../integrations/analysis/matching/match.ts';
import type { MatchField, MatchRecord } from '../../../../integrations/analysis/matching/matching.types.ts';
import { misspelling } from '../../../../integrations/analysis/matching/misspellings.ts';

test.each([
  ['ledger', 'leger', 5.5 / 6],
  ['ledger', 'legder', 5.5 / 6],
  ['warehousing', 'warehosuign', 10 / 11],
  ['ledger', 'legers', 0],
  ['tax', 'tx', 0],
  ['c9300', 'c9301', 0],
  ['radiologie', 'kardiologie', 0],
  ['urologie', 'neurologie', 0],
  ['zalary', 'salary', 4.7 / 6],
])('%s and %s are the same word by %d', (one, other, share) => {
  expect(misspelling(one, other)).toBeCloseTo(share);
  expect(misspelling(other, one)).toBeCloseTo(share);
});

/** A word that no other number has. */
const word = (n: number) =>
  createHash('md5')
    .update(`${n}`)
    .digest('hex')
    .slice(0, 9)
    .replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!);
const list = (count: number, say: (n: number) => MatchRecord['values']): MatchRecord[] =>
  Array.from({ length: count }, (_, n) => ({ id: `${1_000 + n}`, values: say(n) }));
const matches = (records: MatchRecord[], fields: MatchField[]) =>
  findDuplicates(records, { fields }).pairs.filter((pair) => pair.class === 'match');

test('nothing but names is enough, in groups and with one letter wrong', () => {
  const spelt = (n: number) => {
    const [own, trade] = [word(n), ['Textil', 'Papier', 'Chemie', 'Metall'][n % 4]];
    return [
      `${own} ${trade}`,
      `${own} ${trade} GmbH`,
      `${own.slice(0, 3)}${own.slice(4)} ${trade}`,
      `${own.toUpperCase()} ${trade}`,
    ];
  };
  const records = list(400, (n) => ({ name: spelt(n >> 2)[n & 3]! }));
  const { pairs } = findDuplicates(records, { fields: [{ name: 'name', kind: 'name' }] });
  const groups = clustersOf(pairs).map(({ ids }) => ids);
  expect(groups).toHaveLength(100);
  expect(groups.every((ids) => ids.length === 4 && Number(ids[3]) - Number(ids[0]) === 3)).toBe(true);
});

test('what has a parent in common alone is no duplicate, in a list that has none', () => {
  const records = list(300, (n) => ({ name: `${word(n)} ${word(n * 3 + 5)}`, parent: `p${n % 40}` }));
  const fields: MatchField[] = [
    { name: 'name', kind: 'name' },
    { name: 'parent', kind: 'choice', weight: 0.5 },
  ];
  expect(matches(records, fields)).toEqual([]);
});

test('things called the same with serial numbers of their own are no duplicates', () => {
  const records = list(300, (n) => ({
    name: n % 2 ? 'File server' : 'Print server',
    serial: `${word(n).slice(0, 3)}${(n * 7_919 + 1_234_567) % 9_999_991}`,
    cost: 1_000 + ((n * 37) % 900),
  }));
  const fields: MatchField[] = [
    { name: 'name', kind: 'name' },
    { name: 'serial', kind: 'code' },
    { name: 'cost', kind: 'number', weight: 0.5 },
  ];
  expect(matches(records, fields)).toEqual([]);
});

test('thousands of one name cost no more than others, and change nothing between these', () => {
  const fields: MatchField[] = [
    { name: 'name', kind: 'name' },
    { name: 'text', kind: 'text', weight: 0.5 },
  ];
  const records = list(200, (n) => ({ name: `${word(n >> 1)} ${word((n >> 1) + 100)}`, text: word(n >> 1) }));
  const { model, pairs: alone } = findDuplicates(records, { fields });
  const crowd = Array.from(
    { length: 4_500 },
    (_, n): MatchRecord => ({
      id: `9${n}`,
      // a name, nothing at all, and one that the others have
      values: {
        name: ['Server', '\u202e\u200b —', records[0]!.values.name!][n % 3]!,
        text: 'Server '.repeat(50),
      },
    }),
  );
  const { pairs, compared } = findDuplicates([...records, ...crowd], { fields, model });
  // records of the same name speak for the pair of that name
  const own = (all: typeof pairs) =>
    all
      .filter(({ left, right }) => !left.startsWith('9') && !right.startsWith('9'))
      .map((pair) => ({ ...pair, score: pair.score.toFixed(4) }));
  expect(own(pairs)).toEqual(own(alone));
  expect(compared).toBeLessThan(30 * 4_700);
});
