import fc from 'fast-check';
import {
  joinPath,
  joinValues,
  neutralise,
  quoteCell,
  readBoolean,
  readDay,
  readNumber,
  readStakeholding,
  readTag,
  restore,
  splitPath,
  splitValues,
  writeTag,
} from '../../../../domain/kernel/transfer/csv-cells.ts';
import { forAll } from '../../../support/property.ts';

const text = fc.string({ unit: 'grapheme' });
const risky = fc.stringMatching(/^'{0,3}[=+\-@＝＋－＠\t\r].{0,5}$/);
const names = fc.array(
  fc
    .string({ unit: fc.constantFrom('a', ' ', '\\', ';', '/', ':', 'ß', '漢') })
    .map((name) => name.trim() || 'x'),
  { minLength: 1 },
);

describe('guarding texts against being calculated', () => {
  it('puts one apostrophe before what a spreadsheet calculates, and nothing before other texts', () => {
    expect(neutralise('=1+1')).toBe("'=1+1");
    expect(neutralise('-Archive')).toBe("'-Archive");
    expect(neutralise('+1')).toBe("'+1");
    expect(neutralise('@x')).toBe("'@x");
    for (const sign of '＝＋－＠') {
      expect(neutralise(`${sign}1`)).toBe(`'${sign}1`);
      expect(restore(`'${sign}1`)).toBe(`${sign}1`);
    }
    expect(neutralise('＃1')).toBe('＃1');
    expect(neutralise('\tx')).toBe("'\tx");
    expect(neutralise('\rx')).toBe("'\rx");
    expect(neutralise("'=x")).toBe("''=x");
    expect(neutralise("'tis")).toBe("'tis");
    expect(neutralise('a=b')).toBe('a=b');
    expect(neutralise('')).toBe('');
  });

  it('takes off what it put there and nothing else', () => {
    expect(restore("'=already prefixed")).toBe('=already prefixed');
    expect(restore("'tis")).toBe("'tis");
    expect(restore('=bare')).toBe('=bare');
    forAll(100, [fc.oneof(text, risky)], (value) => restore(neutralise(value)) === value);
  });

  it('never lets a guarded text begin a formula', () =>
    forAll(100, [fc.oneof(text, risky)], (value) => !/^[=+\-@＝＋－＠\t\r]/.test(neutralise(value))));
});

it('quotes separators, quotes, line breaks and blanks at the ends', () => {
  expect(quoteCell('plain')).toBe('plain');
  expect(quoteCell('a,b')).toBe('"a,b"');
  expect(quoteCell('a "b"')).toBe('"a ""b"""');
  expect(quoteCell('a\nb')).toBe('"a\nb"');
  expect(quoteCell(' a')).toBe('" a"');
});

describe('numbers, truth values, days', () => {
  it('reads numbers with a point and nothing else inside', () => {
    expect(['0', '-1.5', '+3', '.5', '1200.50', '1e3', ' 7 '].map(readNumber)).toEqual([
      0, -1.5, 3, 0.5, 1200.5, 1000, 7,
    ]);
    for (const bad of ['1,200', '1.200,00', '1 200', '0x10', 'NaN', 'Infinity', '1e999', '', '-', '.', '12€'])
      expect(readNumber(bad)).toBeUndefined();
    forAll(
      100,
      [fc.double({ noNaN: true, noDefaultInfinity: true })],
      (number) => readNumber(String(number)) === (number === 0 ? 0 : number),
    );
  });

  it('reads true and false', () => {
    expect(['true', 'FALSE', ' true '].map(readBoolean)).toEqual([true, false, true]);
    for (const bad of ['yes', '1', '0', 'wahr', '']) expect(readBoolean(bad)).toBeUndefined();
  });

  it('reads days that exist', () => {
    expect(readDay('2024-02-29')).toBe('2024-02-29');
    for (const bad of ['2023-02-29', '31.12.2020', '2020-13-01', '20200101', '2020-1-1'])
      expect(readDay(bad)).toBeUndefined();
  });
});

describe('several values in one cell', () => {
  it('joins and splits lists and paths of any names', () => {
    expect(joinValues(['a;b', 'c\\d'])).toBe('a\\;b;c\\\\d');
    expect(splitValues(' a ; b;;')).toEqual(['a', 'b']);
    expect(joinPath(['Sales', 'Europe/Africa'])).toBe('Sales / Europe\\/Africa');
    expect(splitPath('Sales/Europe / West')).toEqual(['Sales', 'Europe', 'West']);
    expect(splitValues('C:\\temp')).toEqual(['C:\\temp']);
    forAll(100, [names], (list) => {
      expect(splitValues(joinValues(list))).toEqual(list);
      expect(splitPath(joinPath(list))).toEqual(list);
    });
  });

  it('reads tags by group and name', () => {
    expect(readTag('Region/Europe')).toEqual({ group: 'Region', name: 'Europe' });
    expect(readTag('Phase/Build/Run')).toEqual({ group: 'Phase', name: 'Build/Run' });
    expect(readTag('CI\\/CD/Jenkins')).toEqual({ group: 'CI/CD', name: 'Jenkins' });
    for (const bad of ['Europe', '/Europe', 'Region/', ' / ', 'CI\\/CD'])
      expect(readTag(bad)).toBeUndefined();
    forAll(100, [names, names], ([group], [name]) => {
      const cell = joinValues([writeTag({ group: group!, name: name! })]);
      expect(splitValues(cell).map(readTag)).toEqual([{ group, name }]);
    });
  });

  it('reads stakeholders by role and address', () => {
    expect(readStakeholding('owner: ada@example.org')).toEqual({ role: 'owner', email: 'ada@example.org' });
    for (const bad of ['ada@example.org', ':ada@example.org', 'owner:'])
      expect(readStakeholding(bad)).toBeUndefined();
  });
});
