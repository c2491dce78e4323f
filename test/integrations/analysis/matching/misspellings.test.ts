import fc from 'fast-check';
import { editDistance } from '../../../../integrations/analysis/matching/misspellings.ts';
import { forAll } from '../../../support/property.ts';

/** The distance by the whole table. */
function wholeDistance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, row) => [row]);
  for (let at = 0; at <= b.length; at++) table[0]![at] = at;
  for (let row = 1; row <= a.length; row++)
    for (let at = 1; at <= b.length; at++) {
      const wrong = a[row - 1] === b[at - 1] ? 0 : 1;
      let least = Math.min(
        table[row - 1]![at]! + 1,
        table[row]![at - 1]! + 1,
        table[row - 1]![at - 1]! + wrong,
      );
      if (row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1])
        least = Math.min(least, table[row - 2]![at - 2]! + 1);
      table[row]![at] = least;
    }
  return table[a.length]![b.length]!;
}

test('the distance of words is exact up to the most that is asked for', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcdüß語x'), maxLength: 9 });
  forAll(2_000, [word, word, fc.integer({ min: 1, max: 3 })], (a, b, most) => {
    expect(editDistance(a, b, most)).toBe(Math.min(most + 1, wholeDistance(a, b)));
  });
});
