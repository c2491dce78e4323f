import fc from 'fast-check';
import { checkAttributes, checkValue } from '../../../../domain/inventory/cards/rules/values.ts';
import {
  convertAttributes,
  convertValue,
  valueChanges,
} from '../../../../domain/inventory/metamodel/changes/values.diff.ts';
import { type CompiledField, compileField } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { type FieldType, fieldTypes } from '../../../../domain/kernel/metamodel/metamodel.types.ts';
import { forAll } from '../../../support/property.ts';

const field = (type: FieldType, key = 'f', keys = ['a', 'b']): CompiledField =>
  compileField({
    key,
    label: key,
    type,
    weight: 1,
    ...(type.endsWith('select')
      ? { options: keys.map((option) => ({ key: option, label: `Is ${option}` })) }
      : {}),
  });

describe('convertValue', () => {
  it.each<[FieldType, unknown, unknown]>([
    ['number', '12.50', 12.5],
    ['number', ' -3 ', -3],
    ['number', '1e3', undefined],
    ['number', '0x10', undefined],
    ['number', '007', undefined],
    ['number', '12345678901234567890', undefined],
    ['number', '1,5', undefined],
    ['number', true, undefined],
    ['cost', 12, 12],
    ['text', 12.5, '12.5'],
    ['text', false, 'false'],
    ['text', ['a'], 'a'],
    ['text', ['a', 'b'], undefined],
    ['multiline_text', 'x', 'x'],
    ['boolean', 'true', true],
    ['boolean', 'yes', undefined],
    ['boolean', 1, undefined],
    ['date', '2026-02-28', '2026-02-28'],
    ['date', '2026-02-30', undefined],
    ['url', 'https://example.org', 'https://example.org'],
    ['url', 'javascript:alert(1)', undefined],
    ['single_select', 'a', 'a'],
    ['single_select', ' is B ', 'b'],
    ['single_select', 'c', undefined],
    ['single_select', ['b'], 'b'],
    ['single_select', ['a', 'b'], undefined],
    ['multiple_select', 'a', ['a']],
    ['multiple_select', ['a', 'b'], ['a', 'b']],
    ['multiple_select', ['a', 'c'], undefined],
  ])('to %s: %j becomes %j', (type, value, expected) => {
    expect(convertValue(field(type), value)).toEqual(expected);
  });

  it('takes no label that two options share', () => {
    const twice = compileField({
      key: 'f',
      label: 'f',
      type: 'single_select',
      weight: 1,
      options: [
        { key: 'a', label: 'Same' },
        { key: 'b', label: 'same' },
      ],
    });
    expect(convertValue(twice, 'Same')).toBeUndefined();
  });

  it('yields values of the new type only, whatever is stored', () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom('a', 'b', 'true', '1.5', '2026-01-01', 'https://example.org'),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.array(fc.constantFrom('a', 'b', 'c')),
    );
    forAll(100, [fc.constantFrom(...fieldTypes), value], (type, stored) => {
      const to = field(type);
      const result = convertValue(to, stored);
      expect(result === undefined || checkValue(to, 'f', result) === undefined).toBe(true);
    });
  });
});

it('convertAttributes leaves attributes that the new fields take, whatever the fields were', () => {
  const fields = fc
    .uniqueArray(
      fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), type: fc.constantFrom(...fieldTypes) }),
      { selector: ({ key }) => key },
    )
    .chain((list) =>
      fc.tuple(
        ...list.map(({ key, type }) =>
          fc.subarray(['a', 'b', 'c'], { minLength: 1 }).map((keys) => field(type, key, keys)),
        ),
      ),
    )
    .map((list) => new Map((list as CompiledField[]).map((one) => [one.key, one])));
  const storedUnder = ({ type, options }: CompiledField): fc.Arbitrary<unknown> => {
    const keys = [...options];
    switch (type) {
      case 'number':
      case 'cost':
        return fc.double({ min: -1e15, max: 1e15, noNaN: true });
      case 'boolean':
        return fc.boolean();
      case 'date':
        return fc.constantFrom('2026-01-01', '0001-12-31');
      case 'url':
        return fc.constant('https://example.org/a');
      case 'single_select':
        return fc.constantFrom(...keys);
      case 'multiple_select':
        return fc.subarray(keys, { minLength: 1 });
      default:
        return fc.constantFrom('a', 'Is b', '7', 'true', '2026-01-01', 'anything');
    }
  };
  const stored = fields.chain((before) =>
    fc.tuple(
      fc.constant(before),
      fc.record(Object.fromEntries([...before.values()].map((one) => [one.key, storedUnder(one)])), {
        requiredKeys: [],
      }),
      fields,
    ),
  );
  forAll(100, [stored], ([before, attributes, after]) => {
    expect(checkAttributes(before, attributes)).toEqual([]);
    const restated = convertAttributes(attributes, valueChanges(before, after));
    expect(checkAttributes(after, restated)).toEqual([]);
    // and touches nothing that fits as it is
    for (const [key, value] of Object.entries(attributes)) {
      const same = before.get(key)!.type === after.get(key)?.type;
      if (same && checkValue(after.get(key)!, key, value) === undefined) expect(restated[key]).toEqual(value);
    }
  });
});
