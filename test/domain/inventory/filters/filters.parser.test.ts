import fc from 'fast-check';
import { parseFilter } from '../../../../domain/inventory/filters/filters.parser.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { forAll } from '../../../support/property.ts';
import { fieldPath, tokenSoup, writtenCondition, writtenFilter } from './arbitrary.ts';
import refusals from './filters.parser.refusals.json' with { type: 'json' };
import spellings from './filters.parser.spellings.json' with { type: 'json' };
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

  it('gives a condition its path, operator and values, each with its position', () =>
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
    }));

  it.each(spellings as [string, string][])('reads %s', (text, printed) => {
    expect(reprint(text)).toBe(printed);
  });
});

describe('refusing a filter', () => {
  it.each(refusals as [string, number, string][])('%s', (text, position, message) => {
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
    for (const [text, position] of limits)
      expect(faultOf(text)).toMatchObject({ errors: [{ code: 'filter_limit' }], extra: { position } });
    expect(parseFilter(`${'('.repeat(32)}a = 1${')'.repeat(32)}`)).not.toBeNull();
    expect(parseFilter(Array(200).fill('a = 1').join(' or '))).not.toBeNull();
    expect(parseFilter(`a in (${Array(200).fill(1).join(',')})`)).not.toBeNull();
  });

  it('counts characters, not bytes or code units', () =>
    expect(parseFilter(`a = "${'😀'.repeat(3_994)}"`)).not.toBeNull());
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
    forAll(2_000, [fc.string({ unit: 'binary', maxLength: 200 })], readOrRefused);
    forAll(5_000, [tokenSoup], readOrRefused);
  });

  it('prints to a text that reads the same', () => {
    forAll(3_000, [writtenFilter(writtenCondition(fieldPath))], readOrRefused);
  });
});
