import { bitsAt, bitsOf } from '../../../../integrations/analysis/matching/bits.ts';
import { Pairs, Search } from '../../../../integrations/analysis/matching/candidates.ts';
import { finish, type RowSource } from '../../../../integrations/analysis/matching/numbers.ts';
import {
  graphOf,
  groupedOdds,
  oneToOneProbabilities,
  transitivityOf,
} from '../../../../integrations/analysis/matching/rivals.ts';
import {
  codeOf,
  codeSimilarity,
  numberOf,
  numberSimilarity,
  versionOf,
  versionSimilarity,
} from '../../../../integrations/analysis/matching/similarity.ts';
import { neighboursOf } from '../../../../integrations/analysis/matching/stages.ts';
import { codesOf, piecesOf, withStems, wordsOf } from '../../../../integrations/analysis/matching/tokens.ts';
import { cosine, spaceOf as spaceInSteps } from '../../../../integrations/analysis/matching/vectors.ts';
import { fold } from '../../../../platform/fold.ts';

test.each([
  ['Crème Brûlée & Söhne', 'creme brulee and sohne'],
  ['STRASSE Straße', 'strasse strasse'],
  ["O'Reilly’s ﬁle", 'oreillys file'],
  ['ＦＵＬＬ  width', 'full width'],
  ['Ёлка', 'елка'],
  ['हिन्दी', 'हिन्दी'],
])('%s is compared as %s', (text, folded) => expect(fold(text)).toBe(folded));

test.each([
  ['Disk 120 GB, 2.5 inch', ['disk', '120gb', '2·5in']],
  ['120GB', ['120gb']],
  ['会計システム', ['会計', '計シ', 'シス', 'ステ', 'テム']],
  ['🙂 !', []],
])('%s has the words %j', (text, words) => expect(wordsOf(text)).toEqual(words));

test.each([
  ['Sony DSC-W120/B 8.1 Megapixel', ['dscw120b']],
  ['Part 0815-4711 of 2024', ['08154711']],
  ['12volt 500 GB 42', []],
])('%s names %j', (text, codes) => expect(codesOf(text)).toEqual(codes));

test('codes with a few letters at their end are followed by their beginning', () =>
  expect(withStems(['txsr506b', 'txsr506', '08154711'])).toEqual([
    'txsr506b',
    'txsr506~',
    'txsr506',
    'txsr506~',
    '08154711',
  ]));

test('a word has pieces with its ends marked', () => {
  expect(piecesOf('ledger', 4)).toEqual(['^led', 'ledg', 'edge', 'dger', 'ger$']);
  expect(piecesOf('a', 4)).toEqual(['^a$']);
});

test.each([
  ['FCW-2233', 'fcw 2233', 1],
  ['abcd', 'abce', 0.6],
  ['abc', 'xyz', 0],
])('the codes %s and %s are alike by %d', (a, b, similarity) => {
  expect(codeSimilarity(codeOf(a), codeOf(b))).toBeCloseTo(similarity, 5);
  expect(codeSimilarity(codeOf(b), codeOf(a))).toBeCloseTo(similarity, 5);
});

test.each([
  ['v10.2', '10.2.0', 1],
  ['10.2.1', '10.3.1', 1 / 3],
  ['Release 7', '7', 1],
  ['9', '10', 0],
])('the versions %s and %s are alike by %d', (a, b, similarity) => {
  expect(versionSimilarity(versionOf(a), versionOf(b))).toBeCloseTo(similarity, 5);
});

test.each([
  [100, '$ 80.00', 0.6],
  ['1,250.5 EUR', 1250.5, 1],
  [-5, 5, 0],
  [4, 10, 0],
  [0, 0, 1],
  [-8.98846567431158e307, -8.988465674311582e307, 1],
])('the numbers %s and %s are alike by %d', (a, b, similarity) => {
  expect(numberSimilarity(numberOf(a), numberOf(b))).toBeCloseTo(similarity, 5);
});

test('a value without a digit is no number', () => {
  expect(numberOf('on request')).toBeNaN();
  expect(numberOf(null)).toBeNaN();
});

const rows = (lists: number[][]): RowSource => ({
  count: lists.length,
  fill(row, items) {
    for (const item of lists[row]!) items.push(item);
  },
});
const spaceOf = (...input: Parameters<typeof spaceInSteps>) => finish(spaceInSteps(...input));

test('rare terms weigh more than frequent ones', () => {
  // term 0 is in all four rows, terms 1 and 2 in two each
  const space = spaceOf(
    'words',
    ['a', 'b', 'c'],
    rows([
      [0, 1],
      [0, 2],
    ]),
    rows([
      [0, 1],
      [0, 2],
    ]),
  );
  const [often, seldom] = [Math.log(5 / 4), Math.log(5 / 2)];
  expect(cosine(space.left, 0, space.right, 0)).toBe(1);
  expect(cosine(space.left, 0, space.right, 1)).toBeCloseTo(often ** 2 / (often ** 2 + seldom ** 2), 6);
});

test('candidates share a term, and are the nearest of those', () => {
  const space = spaceOf('words', ['a', 'b', 'c', 'd', 'e'], rows([[0, 1], [4]]), rows([[0, 1], [0, 2], [3]]));
  const reach = { neighbours: 1, postings: 100 };
  const found = (from: 'both' | 'left') => {
    const pairs = new Pairs();
    const near = (search: Search, rows: number[]) =>
      finish(neighboursOf([() => search], Uint32Array.from(rows)))[0]!;
    pairs.add(near(new Search(space, space.left, space.right, reach), [0, 1]), 'given');
    if (from === 'both')
      pairs.add(near(new Search(space, space.right, space.left, reach), [0, 1, 2]), 'turned');
    const { left, right } = pairs.distinct();
    return [...left].map((row, at) => [row, right[at]]);
  };
  // the second right row has no nearer one than the first left row, which itself is nearer to the first right row
  expect(found('both')).toEqual([
    [0, 0],
    [0, 1],
  ]);
  expect(found('left')).toEqual([[0, 0]]);
});

describe('rivals', () => {
  const graph = graphOf({ left: Uint32Array.of(0, 0, 1), right: Uint32Array.of(0, 1, 1) }, 2, 2);

  test('share what a record has to give, exactly where pairs make no circle', () => {
    // sets without a common record: none 1, each alone 2 + 3 + 4, first and last 2 * 4: 18 in all
    const [first, middle, last] = oneToOneProbabilities(graph, Float64Array.of(2, 3, 4));
    expect(first).toBeCloseTo(10 / 18, 4);
    expect(middle).toBeCloseTo(3 / 18, 4);
    expect(last).toBeCloseTo(12 / 18, 4);
  });

  test('are not those that are certainly the same', () => {
    const edges: [number, number][] = [
      [0, 1],
      [0, 2],
      [1, 2],
      [2, 3],
    ];
    const triangle = graphOf(
      { left: Uint32Array.from(edges, ([a]) => a), right: Uint32Array.from(edges, ([, b]) => b) },
      4,
      null,
    );
    const [one, other, third, chained] = oneToOneProbabilities(triangle, Float64Array.of(999, 999, 999, 3));
    for (const probability of [one, other, third]) expect(probability).toBeGreaterThan(0.98);
    expect(chained).toBeLessThan(0.1);
  });

  test('leave a pair alone that has none', () => {
    const lone = graphOf({ left: Uint32Array.of(0), right: Uint32Array.of(0) }, 1, 1);
    expect(oneToOneProbabilities(lone, Float64Array.of(3))[0]).toBeCloseTo(0.75, 6);
  });
});

test('a third record speaks for a pair if it matches both, and against it if it matches one', () => {
  const triangle = graphOf({ left: Uint32Array.of(0, 0, 1), right: Uint32Array.of(1, 2, 2) }, 3, null);
  const of = (...odds: number[]) => [...groupedOdds(triangle, Float64Array.from(odds))];
  expect(of(1, 100, 100)[0]).toBeCloseTo(10_001 / 201, 6);
  expect(of(1, 100, 0)[0]).toBeCloseTo(1 / 101, 6);
  expect(of(1, 100, 1)[0]).toBeCloseTo(101 / 102, 6);
  // nothing is known of pairs that were not compared
  const chain = graphOf({ left: Uint32Array.of(0, 1), right: Uint32Array.of(1, 2) }, 3, null);
  expect([...groupedOdds(chain, Float64Array.of(2, 3))]).toEqual([2, 3]);
});

test('identity is transitive, likeness is not', () => {
  const among = (pairs: [number, number][]) =>
    graphOf(
      { left: Uint32Array.from(pairs, ([a]) => a), right: Uint32Array.from(pairs, ([, b]) => b) },
      4,
      null,
    );
  const triangle = among([
    [0, 1],
    [0, 2],
    [1, 2],
  ]);
  expect(transitivityOf(triangle, Float64Array.of(1, 1, 1))).toEqual({ transitivity: 1, thirds: 1 });
  expect(transitivityOf(triangle, Float64Array.of(1, 1, 0))).toEqual({ transitivity: 0, thirds: 0 });
  expect(
    transitivityOf(
      among([
        [0, 1],
        [2, 3],
      ]),
      Float64Array.of(1, 1),
    ),
  ).toEqual({ transitivity: 1, thirds: 0 });
});

test('bits never fall as records grow more alike, and a missing value has none', () => {
  const similarities = Float32Array.of(0.05, 0.15, 0.5, 0.95, 0.95, Number.NaN);
  const bits = bitsOf(similarities, Float64Array.of(0, 1, 0, 1, 1, 1));
  expect([...bits]).toEqual([...bits].sort((a, b) => a - b));
  expect(bitsAt(bits, 0.95)).toBe(bits[9]);
  expect(bitsAt(bits, 0.1)).toBeCloseTo((bits[0]! + bits[1]!) / 2, 6);
  expect(bitsAt(bits, Number.NaN)).toBe(0);
});
