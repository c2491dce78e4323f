import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFilter } from '../../../../domain/inventory/filters/filters.parser.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { fieldPath, tokenSoup, writtenCondition, writtenFilter } from './arbitrary.ts';
import { printFilter, withoutPositions } from './print.ts';

/** The filter read and written again. */
const reprint = (text: string) => printFilter(parseFilter(text)!);

function faultOf(text: string): EstateError {
  try {
    parseFilter(text);
  } catch (error) {
    if (error instanceof EstateError) return error;
    throw error;
  }
  throw new Error(`"${text}" was read`);
}

describe('reading a filter', () => {
  it('takes a blank text as no filter', () => {
    expect(parseFilter('')).toBeNull();
    expect(parseFilter(' \n\t')).toBeNull();
  });

  it('gives a condition its path, operator and values, each with its position', () => {
    expect(parseFilter('  attributes."my key" not in (1.5, "a \\"b\\" \\\\")')).toEqual({
      kind: 'condition',
      path: [
        { text: 'attributes', quoted: false, position: 3 },
        { text: 'my key', quoted: true, position: 14 },
      ],
      operator: 'not in',
      position: 23,
      values: [
        { text: '1.5', quoted: false, position: 31 },
        { text: 'a "b" \\', quoted: true, position: 36 },
      ],
    });
  });

  it.each([
    ['a = 1 or b = 2 and c = 3', 'a = 1 or b = 2 and c = 3'],
    ['(a = 1 or b = 2) and c = 3', '(a = 1 or b = 2) and c = 3'],
    ['((a = 1) and (b = 2 and c = 3))', 'a = 1 and b = 2 and c = 3'],
    ['not a = 1 and b = 2', 'not a = 1 and b = 2'],
    ['not (a = 1 and b = 2)', 'not (a = 1 and b = 2)'],
    ['NOT NOT a=1 OR b IN(x,y)', 'not not a = 1 or b in (x, y)'],
    ['a between 1 and 2 and b = 3', 'a between 1 and 2 and b = 3'],
    ['a exists and b Is Not Empty', 'a is not empty and b is not empty'],
    ['a starts with "x" and a.2b~y', 'a starts with "x" and a.2b ~ y'],
    ['a>=-1.5e+3 and b<2027-01-01', 'a >= -1.5e+3 and b < 2027-01-01'],
    ['a = 2026-01-01T00:00:00.5+02:00', 'a = 2026-01-01T00:00:00.5+02:00'],
    ['a = 0193f5a1-1111-7222-8333-444455556666', 'a = 0193f5a1-1111-7222-8333-444455556666'],
    ['is is empty and in in (empty, with)', 'is is empty and in in (empty, with)'],
  ])('reads %s', (text, printed) => {
    expect(reprint(text)).toBe(printed);
  });
});

describe('refusing a filter', () => {
  it.each([
    ['name', 5, 'expected =, !=, <, <=, >, >= or 8 more but found the end'],
    ['name =', 7, 'expected a value but found the end'],
    ['name == x', 7, 'expected a value but found "="'],
    ['name = and', 8, 'expected a value but found "and"'],
    ['name = x y', 10, 'expected and, or or the end but found "y"'],
    ['name = a.b', 9, 'expected and, or or the end but found "."'],
    ['"name" = x', 1, 'expected a field, not or ( but found text in quotes'],
    ['and', 1, 'expected a field, not or ( but found "and"'],
    ['(name = x', 10, 'expected and, or or ) but found the end'],
    ['name in x', 9, 'expected ( but found "x"'],
    ['name in ()', 10, 'expected a value but found ")"'],
    ['name in (a b)', 12, 'expected , or ) but found "b"'],
    ['name not like x', 10, 'expected in but found "like"'],
    ['name is x', 9, 'expected empty or not empty but found "x"'],
    ['name between 1 or 2', 16, 'expected and but found "or"'],
    ['name starts x', 13, 'expected with but found "x"'],
    ['attributes. = x', 13, 'expected a name but found "="'],
    ['name = null', 8, 'null is no value: write "is empty" or "is not empty"'],
    ['name is not NULL', 13, 'null is no value: write "is empty" or "is not empty"'],
    ['name = "x', 8, 'the text is not closed by a double quote'],
    ['name = "a\\n"', 10, 'a backslash in text escapes a double quote or a backslash only'],
    ["name = 'x'", 8, 'unexpected "\'" (text other than a plain word stands in double quotes)'],
    ['name = "😀" & x = 1', 12, 'unexpected "&" (text other than a plain word stands in double quotes)'],
    ['name = "\0"', 9, 'a character that cannot be stored'],
    ['name = "\ud800"', 9, 'a character that cannot be stored'],
  ])('%s', (text, position, message) => {
    const fault = faultOf(text);
    expect(fault.status).toBe(422);
    expect(fault.errors).toEqual([
      { field: 'filter', code: 'filter_syntax', message: `${message} at position ${position}` },
    ]);
    expect(fault.extra).toEqual({ position, expected: expect.any(Array) });
  });

  it('tells what could stand there', () => {
    expect(faultOf('name = x y').extra.expected).toEqual(['and', 'or', 'the end']);
    expect(faultOf('name').extra.expected).toContain('starts with');
  });

  it('keeps the limits of length, depth and number, and takes what is just within', () => {
    const padded = (length: number) => 'a = 1'.padEnd(length);
    expect(parseFilter(padded(4_000))).not.toBeNull();
    const limits = [
      [padded(4_001), 4_001],
      [`${'('.repeat(33)}a = 1${')'.repeat(33)}`, 33],
      [`${'not '.repeat(33)}a = 1`, 129],
      [Array(201).fill('a = 1').join(' or '), 1_801],
      [`a in (${Array(201).fill(1).join(',')})`, 407],
    ] as const;
    for (const [text, position] of limits) {
      expect(faultOf(text)).toMatchObject({ errors: [{ code: 'filter_limit' }], extra: { position } });
    }
    expect(parseFilter(`${'('.repeat(32)}a = 1${')'.repeat(32)}`)).not.toBeNull();
    expect(parseFilter(Array(200).fill('a = 1').join(' or '))).not.toBeNull();
    expect(parseFilter(`a in (${Array(200).fill(1).join(',')})`)).not.toBeNull();
  });

  it('counts characters, not bytes or code units', () => {
    expect(parseFilter(`a = "${'😀'.repeat(3_994)}"`)).not.toBeNull();
  });
});

describe('any text', () => {
  const readOrRefused = (text: string) => {
    let node: ReturnType<typeof parseFilter>;
    try {
      node = parseFilter(text);
    } catch (error) {
      expect(error).toBeInstanceOf(EstateError);
      const { position } = (error as EstateError).extra;
      expect(position).toBeGreaterThanOrEqual(1);
      expect(position).toBeLessThanOrEqual([...text].length + 1);
      return;
    }
    if (node) expect(withoutPositions(parseFilter(printFilter(node)))).toEqual(withoutPositions(node));
  };

  it('is read or refused, never a crash', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), readOrRefused), { numRuns: 2_000 });
    fc.assert(fc.property(tokenSoup, readOrRefused), { numRuns: 5_000 });
  });

  it('prints to a text that reads the same', () => {
    const filter = writtenFilter(writtenCondition(fieldPath));
    fc.assert(fc.property(filter, readOrRefused), { numRuns: 3_000 });
  });
});
