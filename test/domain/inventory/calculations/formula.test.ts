import { computeValue } from '../../../../domain/inventory/calculations/calculations.inputs.ts';
import { evaluateFormula, type FormulaNames } from '../../../../domain/kernel/formulas/formula.evaluate.ts';
import { parseFormula, readsOf } from '../../../../domain/kernel/formulas/formula.parse.ts';
import { FormulaError, formulaLimits } from '../../../../domain/kernel/formulas/formula.values.ts';
import faulty from './formula.faulty.json' with { type: 'json' };

const names: FormulaNames = {
  data: { cost: 12.5, users: 3, rank: 'high', empty: null, lifecycle: { active: '2024-01-01' } },
  relations: {
    uses: [
      { id: '1', name: 'A', type: 'T', attributes: { cost: 5, kind: 'x' }, rel_attributes: { share: 2 } },
      { id: '2', name: 'B', type: 'T', attributes: { cost: 7, kind: 'y' }, rel_attributes: {} },
      { id: '3', name: 'C', type: 'T', attributes: {}, rel_attributes: {} },
    ],
  },
  relation_count: { uses: 3 },
  children: [],
  children_count: 0,
};
const run = (formula: string) => {
  const lines = parseFormula(formula);
  readsOf(lines);
  return evaluateFormula(lines, names);
};

describe('formulas', () => {
  it.each<[string, unknown]>([
    ['1 + 2 * 3', 7],
    ['data.cost * data.users', 37.5],
    ['x = data.cost\ny = x * 2\ny + 1', 26],
    ['x = 1', 1],
    ['# a remark\nSUM(\n  1,\n  2\n)', 3],
    ['SUM(PLUCK(relations.uses, "attributes.cost"))', 12],
    ['SUM(PLUCK(relations.uses, "cost"))', 12],
    ['SUM(PLUCK(relations["uses"], "rel_attributes.share"))', 2],
    ['AVG(PLUCK(relations.uses, "cost"))', 6],
    ['AVG([])', null],
    ['MIN(3, 1, 2) + MAX([4, 9])', 10],
    ['COUNT(relations.uses)', 3],
    ['COUNT(FILTER(relations.uses, "kind", "x"))', 1],
    ['relation_count.uses', 3],
    ['children_count', 0],
    ['relations.uses[0].name', 'A'],
    ['relations.uses[7].name', null],
    ['ROUND(1.005, 2)', 1.01],
    ['ROUND(-2.5)', -3],
    ['round(7)', 7],
    ['ABS(-3)', 3],
    ['COALESCE(data.empty, data.users)', 3],
    ['COALESCE("", 5)', 5],
    ['COUNT([1, data.empty, "", 0])', 2],
    ['LOWER("AbC") + UPPER("d")', 'abcD'],
    ['CONCAT("a", 1, data.empty)', 'a1'],
    ['CONTAINS("Hello", "ELL")', true],
    ['CONTAINS([1, 2], 2)', true],
    ['MAP_SCORE(data.rank, {"low": 1, "high": 3})', 3],
    ['MAP_SCORE("none", {"low": 1}, 0)', 0],
    ['IF(data.users > 2, "many", 1 / 0)', 'many'],
    ['data.users > 2 and not data.empty', true],
    ['data.users == 3 ? "three" : "other"', 'three'],
    ['len("abc") + int("4") + float("1.5")', 8.5],
    ['len("a👍")', 2],
    ['-2 ** 2', 4],
    ['2 ** 3 ** 2', 512],
    ['-7 % 3', -1],
    ['1 == 1 or 1 == 1 and 1 == 2', true],
    ['str(4) + "!"', '4!'],
    ['bool(0) or True', true],
    ['data.lifecycle.active', '2024-01-01'],
    ['data.empty == None', true],
    ['sum([1, 2]) + min(1, 2) + max(1, 2) + abs(-1)', 7],
    [Array(1000).fill('1').join(' + '), 1000],
    [Array(500).fill('True').join(' and '), true],
  ])('%s', (formula, value) => expect(run(formula)).toEqual(value));

  it.each(faulty)('refuses %s', (formula) => expect(() => run(formula)).toThrow(FormulaError));

  it('knows what is read without running it', () => {
    const reads = readsOf(
      parseFormula(
        'x = FILTER(relations.uses, "attributes.kind", "x")\nIF(children_count, data.a, x[0].cost)',
      ),
    );
    expect([...reads.data]).toEqual(['a']);
    expect([...reads.relations]).toEqual(['uses']);
    expect([...reads.members].sort()).toEqual(['attributes', 'cost', 'kind']);
    expect([reads.children, reads.childrenCount]).toEqual([false, true]);
  });
});

describe('hostile formulas', () => {
  const nested = (n: number, open: string, close: string) => `${open.repeat(n)}1${close.repeat(n)}`;

  it.each([
    'constructor',
    'data.constructor.constructor("return process")()',
    'data["__proto__"].polluted',
    'SUM.constructor("return 1")()',
    '__proto__ = 1\n__proto__.x = 2',
    'this',
    'process.exit(1)',
    'globalThis',
    'children.map(1)',
    '({"a": 1}).toString()',
    'hasOwnProperty("a")',
    'toString()',
    '/(a+)+$/',
    '`text`',
    'new Date()',
    'x => x',
    'eval("1")',
    'constructor = 1\nconstructor()',
    nested(65, '(', ')'),
    nested(65, '[', ']'),
    nested(1500, 'ABS(', ')'),
    `${'!'.repeat(4990)}1`,
    `${'-'.repeat(4990)}1`,
    Array(300).fill('2').join(' ** '),
    Array(300).fill('1 ? 1').join(' : '),
    `x = "${'a'.repeat(1000)}"\n${'x = x + x\n'.repeat(60)}x`,
    `x = [1]\n${'x = [SUM(x), x, x]\n'.repeat(2)}SUM(x)`,
  ])('finds nothing behind %s', (formula) => {
    let value: unknown = null;
    try {
      value = run(formula);
    } catch (error) {
      expect(error).toBeInstanceOf(FormulaError);
    }
    expect(value).toBeNull();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([
    ['signs', (n: number) => `${'-'.repeat(n)}1`],
    ['members', (n: number) => `data.empty${'.a'.repeat(n - 1)}`],
    ['a branch that is not taken', (n: number) => `IF(True, 1, ${'-'.repeat(n - 1)}1)`],
    ['the right side of a row', (n: number) => `1 + 1 + ${'-'.repeat(n - 1)}1`],
  ])('is read up to the depth that evaluation takes: %s', (_what, formula) => {
    const { depth } = formulaLimits;
    expect(() => parseFormula(formula(depth + 1))).toThrow('nested too deeply');
    expect(() => parseFormula(formula(2_000))).toThrow('nested too deeply');
    expect(() => run(formula(depth))).not.toThrow();
  });

  it.each(['[1, , 2]', 'SUM([data.rank,,])'])(
    'a list without a value between its commas is refused: %s',
    (formula) => expect(() => parseFormula(formula)).toThrow('a value is missing'),
  );

  it('gives no member that a value does not hold itself', () => {
    for (const member of ['constructor', '__proto__', 'length', 'toString']) {
      expect(run(`data.lifecycle.${member}`)).toBeNull();
      expect(run(`relations.uses.${member}`)).toBeNull();
      expect(run(`PLUCK(relations.uses, "${member}.constructor")[0]`)).toBeNull();
      expect(run(`MAP_SCORE("${member}", {"a": 1})`)).toBeNull();
    }
    expect(run('x = {"__proto__": 5}\nx.polluted')).toBeNull();
  });

  it('counts its steps over lists, and never walks into a list that holds itself many times', () => {
    const items = Array.from({ length: 20_000 }, (_, n) => n);
    const lines = parseFormula('SUM(data.items) + SUM(data.items) + SUM(data.items)');
    expect(evaluateFormula(lines, { data: { items } })).toBe(3 * 199_990_000);
    const more = parseFormula(Array(6).fill('SUM(data.items)').join(' + '));
    expect(() => evaluateFormula(more, { data: { items } })).toThrow('too many steps');
    expect(computeValue(parseFormula(`x = [1]\n${'x = [x, x]\n'.repeat(200)}x`), names)).toEqual({
      error: 'The result is no single value and no short list of them.',
    });
  });
});
