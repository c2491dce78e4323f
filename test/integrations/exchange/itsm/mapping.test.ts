import { createEvaluate } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { TransformContext } from '../../../../integrations/exchange/itsm/engine/fields.ts';
import { toLocal, toRemote } from '../../../../integrations/exchange/itsm/engine/fields.ts';
import { mappedField } from './mapping.support.ts';

const evaluate = createEvaluate();

describe('a formula of a transform', () => {
  it.each([
    ['UPPER(value)', 'abc', 'ABC'],
    ['float(value) * 2', '21', 42],
    ['IF(CONTAINS(value, "prod"), "production", "other")', 'Prod-1', 'production'],
    ['MAP_SCORE(value, {"1": "high", "2": "low"})', '2', 'low'],
    ['value', null, null],
    ['""', 'x', null],
    ['x = int(value)\nx + 1', '4', 5],
    ['["a", value]', 'b', ['a', 'b']],
  ])('%s of %j returns %j', (formula, value, result) => {
    expect(evaluate(formula, value as never)).toEqual(result);
  });

  it.each([
    'process.exit(1)',
    'value.constructor.constructor("return process")()',
    'require("fs")',
    'this',
    'globalThis',
    'data.name',
    '[].map(x => x)',
    '`value`',
    'value = 1; value',
    '('.repeat(100) + ')'.repeat(100),
    '9 ** 9 ** 9 ** 9',
    `${'x = [value, value]\n'.repeat(30)}y = [x, x]\ny`,
    `x = "${'a'.repeat(1000)}"\n${'x = CONCAT(x, x)\n'.repeat(20)}x`,
    `x = [${'1,'.repeat(400)}1]\n${'x = FILTER(x, "a", 1)\n'.repeat(10)}${'y = [SUM(x), SUM(x), SUM(x)]\n'.repeat(50)}`,
    `${'1 + '.repeat(2000)}1`,
    '{"a": value}',
    'float(value)',
  ])('%.60s is rejected or harmless, and fast', (formula) => {
    const begun = performance.now();
    let result: unknown;
    try {
      result = evaluate(formula, 'x');
    } catch (error) {
      expect((error as Error).message).toMatch(/\S/);
    }
    expect(JSON.stringify(result ?? null).length).toBeLessThan(20_000);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('cannot access inherited members of a value', () => {
    for (const member of ['constructor', '__proto__', 'toString', 'length'])
      expect(evaluate(`value.${member}`, 'x')).toBeNull();
  });
});

describe('a number', () => {
  const field = mappedField('attributes.cost', 'cost', { transform_config: { as: 'number' } });
  const around = {} as TransformContext;

  it.each([
    ['42', 42],
    [' -1.50 ', -1.5],
    [7, 7],
    [null, null],
  ])('%j is converted to %j', (value, local) => {
    expect(toLocal(field, value, around)).toEqual({ ok: true, value: local });
  });

  it.each([['1,5'], ['0x10'], ['1e9'], ['many'], [true]])('%j is not a number', (value) => {
    expect(toLocal(field, value, around).ok).toBe(false);
  });

  it('is written unchanged', () => expect(toRemote(field, 1.5, around)).toEqual({ ok: true, value: 1.5 }));
});
