import { computeValue } from '../../../../domain/inventory/calculations/calculations.inputs.ts';
import { compileCalculations } from '../../../../domain/kernel/formulas/calculations.plan.ts';
import type { FormulaNames } from '../../../../domain/kernel/formulas/formula.evaluate.ts';
import { parseFormula } from '../../../../domain/kernel/formulas/formula.parse.ts';
import { formulaLimits } from '../../../../domain/kernel/formulas/formula.values.ts';
import type { CompiledField } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';

const long = `${'b'.repeat(20_000)}x`;
const uses = Array.from({ length: 16_000 }, (_, n) => ({ id: `${n}`, attributes: { cost: 1e308, long } }));
const names: FormulaNames = {
  data: {
    left: `${'b'.repeat(1_000_000)}x`,
    right: `${'b'.repeat(1_000_000)}y`,
    long: `${'b'.repeat(20_000)}y`,
    text: 'a'.repeat(formulaLimits.text),
  },
  relations: { uses },
};
const run = (formula: string, field?: CompiledField) => computeValue(parseFormula(formula), names, field);
const row = (formula: string, by: string) =>
  Array(Math.floor(4_800 / (formula.length + by.length)))
    .fill(formula)
    .join(by);

describe('the time of a formula is bounded', () => {
  it.each([
    [
      'texts of a megabyte that are equal but for the end',
      `x = data.left\ny = data.right\n${row('(x==y)', '+')}`,
    ],
    ['their order', `x = data.left\ny = data.right\n${row('(x<y)', '+')}`],
    [
      'a long text in a list',
      `x = data.long\nr = PLUCK(relations.uses, "long")\n${row('CONTAINS(r,x)', '+')}`,
    ],
    ['a long text of related cards', 'len(FILTER(relations.uses, "long", data.long))'],
    ['a long name of a member', `len(PLUCK(relations.uses, "${'q'.repeat(4_900)}"))`],
    ['a long path', `len(PLUCK(relations.uses, "${'q.'.repeat(2_400)}q"))`],
    ['many passes over related cards', row('COUNT(relations.uses)', '+')],
  ])('%s', (_, formula) => expect(run(formula)).toEqual({ error: 'The formula takes too many steps.' }));

  it('a usual comparison of related cards takes few steps', () => {
    expect(run('COUNT(FILTER(relations.uses, "id", "7"))')).toEqual({ value: 1 });
    expect(run('IF(data.left < data.right, data.left == data.right, 0)')).toEqual({ value: false });
  });
});

describe('the size of a result is bounded', () => {
  const long = { error: `A text has at most ${formulaLimits.text} characters.` };

  it.each([
    ['a text that is doubled', `x = "ab"\n${'x = x + x\n'.repeat(40)}x`, long],
    ['joined texts', `CONCAT(${Array(200).fill('data.text').join(', ')})`, long],
    [
      'a text that grows in upper case',
      `UPPER("${'ß'.repeat(4_900)}" + "${'\\u00df'.repeat(1)}") + data.text`,
      long,
    ],
    ['a long text of a card', 'LOWER(data.left)', long],
    ['a list of related cards', 'relations.uses', { error: expect.stringContaining('no short list') }],
    [
      'a list of their values',
      'PLUCK(relations.uses, "id")',
      { error: expect.stringContaining('no short list') },
    ],
    [
      'a list of long texts',
      `x = data.text\n[${Array(400).fill('x').join(', ')}]`,
      { value: expect.anything() },
    ],
  ])('%s', (_, formula, expected) => expect(run(formula)).toEqual(expected));
});

describe('numbers and dates are those that a field can hold', () => {
  const large = { error: 'The number is too large.' };

  it.each([
    ['1e400', large],
    ['-1e400', large],
    ['1e400 - 1e400', large],
    ['COALESCE(1e400)', large],
    ['1e308 * 10', large],
    ['SUM(PLUCK(relations.uses, "cost"))', large],
    ['AVG(PLUCK(relations.uses, "cost"))', large],
    ['(-8) ** 0.5', large],
    ['0 ** -1', large],
    ['1 / 0', { error: 'Division by zero.' }],
    ['1 % 0', { error: 'Division by zero.' }],
    ['int("Infinity")', { error: 'The text is not a number.' }],
    ['float("NaN")', { error: 'The text is not a number.' }],
    ['float("1e999")', { error: 'The text is not a number.' }],
    ['ROUND(1, 13)', { error: 'ROUND takes -12 to 12 digits.' }],
    ['ABS()', { error: 'ABS takes 1 values.' }],
    ['SUM()', { error: 'SUM takes 1 to 1000 values.' }],
  ])('%s', (formula, expected) => expect(run(formula)).toEqual(expected));

  const field = (type: string) => ({ key: 'x', type, options: new Map() }) as unknown as CompiledField;
  it.each([
    '"0000-01-01"',
    '"2024-02-30"',
    '"99999-01-01"',
    '"-2024-01-01"',
    '"2024-01-01T00:00:00Z"',
    '20240101',
  ])('the date %s is refused', (formula) => {
    const { value, error } = run(formula, field('date'));
    expect(value).toBeUndefined();
    expect(error).toMatch(/^The result does not fit the field: it (must be a|is not an existing) date/);
  });

  it('a number beyond the range of a field is refused', () =>
    expect(run('1e16', field('number'))).toEqual({
      error: 'The result does not fit the field: it is outside -1e15 to 1e15.',
    }));
});

describe('formulas that read each other', () => {
  const compile = (formulas: string[]) => {
    const fields = new Map(formulas.map((_, n) => [`f${n}`, { type: 'number' }]));
    fields.set(`f${formulas.length}`, { type: 'number' });
    const rows = formulas.map((formula, n) => ({
      id: `${n}`.padStart(6, '0'),
      target_type_key: 'T',
      target_field_key: `f${n}`,
      formula,
      execution_order: 0,
    }));
    return compileCalculations(rows, { cardTypes: new Map([['T', { fields }]]), relationTypes: new Map() });
  };
  const chain = (length: number) => Array.from({ length }, (_, n) => `data.f${n + 1}`);

  it('in a chain of thousands are put in order', () => {
    const { formulas, broken } = compile(chain(6_000));
    expect(broken.size).toBe(0);
    expect(formulas.map(({ field }) => field)).toEqual(
      Array.from({ length: 6_000 }, (_, n) => `f${5_999 - n}`),
    );
  }, 60_000);

  it('of one field: the first is run', () => {
    const row = { target_type_key: 'T', target_field_key: 'f', formula: '1', execution_order: 0 };
    const { formulas, broken } = compileCalculations(
      [
        { ...row, id: 'a' },
        { ...row, id: 'b', execution_order: -1 },
      ],
      {
        cardTypes: new Map([['T', { fields: new Map([['f', { type: 'number' }]]) }]]),
        relationTypes: new Map(),
      },
    );
    expect(formulas.map(({ id }) => id)).toEqual(['b']);
    expect([...broken]).toEqual([['a', 'Another active formula computes T.f.']]);
  });

  it('in a circle are not run, and others are', () => {
    const { formulas, broken } = compile([
      'data.f1',
      'data.f2',
      'data.f0',
      'data.f3 + 1',
      'data.f1 + data.f5',
      '1',
    ]);
    expect(formulas.map(({ field }) => field)).toEqual(['f5', 'f4']);
    expect([...broken.keys()].sort()).toEqual(['000000', '000001', '000002', '000003']);
    expect(broken.get('000000')).toBe(broken.get('000002'));
    expect(broken.get('000000')).toMatch(
      /^The formulas wait for each other: T\.f\d -> T\.f\d -> T\.f\d -> T\.f\d\.$/,
    );
    expect(broken.get('000003')).toBe('The formulas wait for each other: T.f3 -> T.f3.');
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])('finds no field %s', (key) => {
    const { formulas, broken } = compile([`data.${key}`]);
    expect(formulas).toEqual([]);
    expect([...broken.values()]).toEqual([`The type 'T' has no field '${key}'.`]);
  });
});
