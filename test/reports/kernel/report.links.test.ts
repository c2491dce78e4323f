import { sumDecimals } from '../../../reports/inventory/capability-heatmap/capability-heatmap.parts.ts';
import { ReportBody } from '../../../reports/kernel/report.body.ts';
import { IdNumbers } from '../../../reports/kernel/report.ids.ts';
import { type Ends, listsOf, pairsOfPaths } from '../../../reports/kernel/report.links.ts';

const bytesOf = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex');
const pairs = (...ids: string[]) => Buffer.concat(ids.map(bytesOf));

const A = '00000000-0000-4000-8000-00000000000a';
const B = '7fffffff-0000-4000-8000-00000000000b';
const C = 'ffffffff-ffff-4fff-bfff-fffffffffffc';

function numbered(...ids: string[]): IdNumbers {
  const numbers = new IdNumbers(ids.length);
  for (const id of ids) numbers.add(bytesOf(id), 0);
  return numbers;
}

describe('numbers of ids', () => {
  it('are given in the order of coming, once, for bytes and texts alike', () => {
    const numbers = new IdNumbers(3);
    const text = Buffer.from(`{"id":"${B}"}`);
    expect([numbers.add(bytesOf(A), 0), numbers.addText(text, 7), numbers.add(bytesOf(A), 0)]).toEqual([
      0, 1, 0,
    ]);
    expect([numbers.find(bytesOf(B), 0), numbers.findText(text, 7), numbers.find(bytesOf(C), 0)]).toEqual([
      1, 1, -1,
    ]);
    expect(numbers.count).toBe(2);
  });

  it('are told from thousands of others', () => {
    const id = Buffer.alloc(16, 7);
    const numbers = new IdNumbers(5_000);
    for (let n = 0; n < 5_000; n += 1) {
      id.writeUInt32BE(n * 65_536, 4);
      expect(numbers.add(id, 0)).toBe(n);
    }
    id.writeUInt32BE(4_999 * 65_536, 4);
    expect(numbers.find(id, 0)).toBe(4_999);
  });

  it('compare as the ids do', () => {
    const numbers = numbered(C, A, B);
    expect([0, 1, 2].sort((a, b) => numbers.compare(a, b))).toEqual([1, 2, 0]);
    expect(numbers.compare(1, 1)).toBe(0);
  });
});

describe('lists of what is linked', () => {
  const ends: Ends = {
    tags: Buffer.alloc(0),
    cards: new Map(),
    relations: new Map([
      ['uses', pairs(A, B, A, C, B, C)],
      ['replaces', pairs(A, C, C, A)],
    ]),
  };
  const all = numbered(A, B, C);
  const lists = (ways: Parameters<typeof pairsOfPaths>[1], isReverse?: boolean) => {
    const { starts, items } = listsOf(all, all, pairsOfPaths(ends, ways, isReverse));
    return [0, 1, 2].map((n) => [...items.subarray(starts[n], starts[n + 1])]);
  };
  const uses = { relationType: 'uses', near: 'source_id', far: 'target_id' } as const;

  it('are in the order of ids, from either end', () => {
    expect(lists([uses])).toEqual([[1, 2], [2], []]);
    expect(lists([uses], true)).toEqual([[], [0], [0, 1]]);
    expect(lists([{ relationType: 'none', near: 'source_id', far: 'target_id' }])).toEqual([[], [], []]);
  });

  it('hold what is linked in several ways once', () => {
    const replaced = { relationType: 'replaces', near: 'target_id', far: 'source_id' } as const;
    const replaces = { relationType: 'replaces', near: 'source_id', far: 'target_id' } as const;
    expect(lists([replaced, uses, replaces])).toEqual([[1, 2], [2], [0]]);
  });

  it('leave out what has no number', () =>
    expect([...listsOf(numbered(B), numbered(A, B), pairsOfPaths(ends, [uses])).items]).toEqual([]));
});

it('sums of decimals are exact', () => {
  const sum = (...texts: string[]) => sumDecimals(texts);
  expect(sum('0.1', '0.2')).toBe('0.3');
  expect(sum('100', '20.50', '-0.5')).toBe('120.00');
  expect(sum('0.01', '-0.03')).toBe('-0.02');
  expect(sum('9007199254740993', '1')).toBe('9007199254740994');
  expect(sum()).toBe('0');
});

it('the body of an answer grows beyond what was expected', () => {
  const body = new ReportBody(4);
  body.text('é[');
  body.ids(numbered(A, C), Int32Array.of(1, 0), 0, 2);
  const to = body.length;
  body.copy(Buffer.from('-x-'), 1, 2);
  body.again(2, to);
  body.copy(Buffer.alloc(100, 'y'));
  body.takeBack(100);
  expect(body.whole().toString()).toBe(`é["${C}","${A}"x["${C}","${A}"`);
});
