import { ReportBody } from '../../../reports/kernel/report.body.ts';
import { IdNumbers } from '../../../reports/kernel/report.ids.ts';

const bytesOf = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex');

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

  it('differ from thousands of others', () => {
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

it('the body of a response grows beyond what was expected', () => {
  const body = new ReportBody(4);
  body.text('é[');
  body.id(bytesOf(C), 0);
  body.copy(Buffer.from('-x-'), 1, 2);
  body.copy(Buffer.alloc(100, 'y'));
  body.takeBack(100);
  expect(body.whole().toString()).toBe(`é[${C}x`);
});
