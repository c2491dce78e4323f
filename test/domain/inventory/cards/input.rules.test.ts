import type { CardInput } from '../../../../domain/inventory/cards/rules/diff.ts';
import { cleanCardInput, validateCardInput } from '../../../../domain/inventory/cards/rules/values.ts';
import type { FieldType } from '../../../../domain/kernel/metamodel/metamodel.types.ts';
import { field, options, schema } from '../../../api/metamodel/metamodel.fixture.ts';
import { seededMetamodel } from './seeded-metamodel.ts';

const fieldOf = (type: FieldType, key: string = type, more: Record<string, unknown> = {}) =>
  field(key, type, { ...(type.endsWith('select') ? { options: options('one', 'two') } : {}), ...more });
const everyType: FieldType[] = [
  'text',
  'multiline_text',
  'number',
  'cost',
  'boolean',
  'date',
  'url',
  'single_select',
  'multiple_select',
];
const metamodel = seededMetamodel({
  cardTypes: {
    Objective: {
      fields_schema: schema(
        ...everyType.map((type) => fieldOf(type)),
        fieldOf('text', 'computed', { readonly: true }),
      ),
    },
    Provider: { is_hidden: true },
  },
});

function faultsOf(type: string, input: CardInput, checks = {}): string[] {
  return validateCardInput(metamodel, type, cleanCardInput(input), checks).map(
    (fault) => `${fault.field}: ${fault.code}`,
  );
}

describe('card input', () => {
  it('takes a full, valid card', () => {
    const full: CardInput = {
      name: '  Claims  ',
      subtype: 'businessApplication',
      alias: 'CLM',
      description: 'two\nlines',
      external_id: 'A-1',
      parent_id: null,
      lifecycle: { plan: '2020-01-01', active: '2020-01-01', endOfLife: '2030-12-31' },
      attributes: { businessCriticality: 'missionCritical', costTotalAnnual: 1200.5, hasAiFeatures: false },
    };
    expect(faultsOf('Application', full, { creating: true })).toEqual([]);
  });

  it.each([
    ['NoSuchType', {}, ['type: unknown_type']],
    ['Provider', { name: 'x' }, ['type: unknown_type']],
    ['Application', { name: ' \t ' }, ['name: required']],
    ['Application', { name: null }, ['name: required']],
    ['Application', { name: 'x'.repeat(501) }, ['name: too_long']],
    ['Application', { name: 'two\nlines' }, ['name: bad_text']],
    ['Application', { name: 'two\u0085lines' }, ['name: bad_text']],
    ['Application', { name: '\u200b\u00ad \u2060' }, ['name: bad_text']],
    ['Application', { name: '\u3164\u2800\u115f' }, ['name: bad_text']],
    ['Application', { name: 'nul\0' }, ['name: bad_text']],
    ['Application', { description: 'half \ud83d' }, ['description: bad_text']],
    ['Application', { description: 'x'.repeat(100_001) }, ['description: too_long']],
    ['Application', { alias: 'x'.repeat(501) }, ['alias: too_long']],
    ['Application', { external_id: 'x'.repeat(501) }, ['external_id: too_long']],
    ['Application', { subtype: 'noSuchSubtype' }, ['subtype: unknown_subtype']],
    ['Application', { subtype: '' }, ['subtype: unknown_subtype']],
    ['Application', { lifecycle: { begin: '2020-01-01' } }, ['lifecycle.begin: unknown_phase']],
    ['Application', { lifecycle: { active: '31.12.2020' } }, ['lifecycle.active: bad_date']],
    ['Application', { lifecycle: { active: '2023-02-30' } }, ['lifecycle.active: bad_date']],
    ['Application', { lifecycle: { active: '' } }, ['lifecycle.active: bad_date']],
    [
      'Application',
      { lifecycle: { active: '2030-01-01', endOfLife: '2020-01-01' } },
      ['lifecycle.endOfLife: lifecycle_order'],
    ],
    ['Application', { attributes: { nope: null } }, ['attributes.nope: unknown_attribute']],
    ['Application', { attributes: { constructor: 1 } }, ['attributes.constructor: unknown_attribute']],
  ] as [string, CardInput, string[]][])('refuses %s %j', (type, input, faults) => {
    expect(faultsOf(type, input)).toEqual(faults);
  });

  it('names every fault at once, and needs a name only when creating', () => {
    const faulty = { subtype: 'x', lifecycle: { begin: 1 }, attributes: { a: 1, timeModel: 2 } };
    expect(faultsOf('Application', faulty, { creating: true })).toEqual([
      'name: required',
      'subtype: unknown_subtype',
      'lifecycle.begin: unknown_phase',
      'attributes.a: unknown_attribute',
      'attributes.timeModel: wrong_type',
    ]);
  });

  it('counts characters, not UTF-16 units', () => {
    expect(faultsOf('Application', { name: '𝒳'.repeat(500) })).toEqual([]);
    expect(faultsOf('Application', { name: '𝒳'.repeat(501) })).toEqual(['name: too_long']);
  });

  it('trims names, aliases and external ids; empty ones are cleared', () =>
    expect(cleanCardInput({ name: ' a ', alias: ' ', external_id: ' x ', description: '' })).toEqual({
      name: 'a',
      alias: null,
      external_id: 'x',
      description: null,
    }));
});

describe('attribute values by field type', () => {
  it.each([
    ['text', 'a', ''],
    ['multiline_text', 'a\nb', ''],
    ['number', -1.5, 0],
    ['cost', 1e15, 0.1],
    ['boolean', true, false],
    ['date', '2024-02-29', '0001-01-01'],
    ['url', 'https://example.org/a?b=c#d', 'mailto:a@example.org'],
    ['url', 'HTTP://example.org', 'http://[::1]:8080/'],
    ['single_select', 'one', 'two'],
    ['multiple_select', [], ['two', 'one']],
  ])('%s takes %j and %j, and null', (type, ...values) => {
    for (const value of [...values, null])
      expect(faultsOf('Objective', { attributes: { [type]: value } })).toEqual([]);
  });

  it.each([
    ['text', 'wrong_type', [1, true, {}, []]],
    ['text', 'too_long', ['x'.repeat(10_001)]],
    ['text', 'bad_text', ['\0']],
    ['multiline_text', 'too_long', ['x'.repeat(100_001)]],
    ['number', 'wrong_type', ['1', '', true, [1], {}]],
    ['number', 'out_of_range', [Number.POSITIVE_INFINITY, Number.NaN, 1.1e15]],
    ['cost', 'wrong_type', ['1,200', { amount: 1 }]],
    ['boolean', 'wrong_type', ['true', 'yes', 0, 1]],
    ['date', 'bad_date', ['2023-02-29', '2023-2-1', '2023-01-01T00:00:00Z', '0000-01-01', '']],
    ['date', 'wrong_type', [20230101]],
    [
      'url',
      'bad_url',
      [
        'javascript:alert(1)',
        'ftp://example.org',
        'example.org',
        'http:example.org',
        'https://',
        'https://a b',
        'https://example.org/\n',
        `https://example.org/${'x'.repeat(2000)}`,
        '',
      ],
    ],
    ['single_select', 'unknown_option', ['three', '']],
    ['single_select', 'wrong_type', [['one'], 1]],
    ['multiple_select', 'unknown_option', [['one', 'three']]],
    ['multiple_select', 'duplicate_option', [['one', 'one']]],
    ['multiple_select', 'wrong_type', ['one', [1], { 0: 'one' }]],
  ] as [string, string, unknown[]][])('%s answers %s', (type, code, values) => {
    for (const value of values)
      expect(faultsOf('Objective', { attributes: { [type]: value } })).toEqual([
        `attributes.${type}: ${code}`,
      ]);
  });

  it('refuses what the service sets alone, unless it is sent back unchanged', () => {
    const sent = { attributes: { computed: 'a' } };
    expect(faultsOf('Objective', sent)).toEqual(['attributes.computed: readonly']);
    expect(faultsOf('Objective', sent, { stored: { computed: 'a' } })).toEqual([]);
    expect(faultsOf('Objective', { attributes: { computed: null } }, { stored: { computed: 'a' } })).toEqual([
      'attributes.computed: readonly',
    ]);
  });

  it('repeats no cost in its messages', () => {
    const faults = validateCardInput(metamodel, 'Objective', { attributes: { cost: 9.87654321e20 } });
    expect(JSON.stringify(faults)).not.toContain('9.87');
  });
});
