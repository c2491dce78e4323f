import Type from 'typebox';
import { expect, test } from 'vitest';
import { createBodyCheck } from '../../../api/plugins/validation.ts';
import { invalidField } from '../../../platform/errors.ts';

const words = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const check = createBodyCheck(
  Type.Object(
    {
      fn: Type.Optional(words('count', 'sum')),
      sort: Type.Optional(Type.Union([words('name', 'cost'), Type.Null()])),
      metric: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['users', 'cost'] })),
      day: Type.Optional(Type.String({ format: 'date' })),
      at: Type.Optional(Type.String({ format: 'date-time' })),
      id: Type.Optional(Type.String({ format: 'uuid', pattern: '^[0-9a-fA-F-]{36}$' })),
      due: Type.Optional(Type.Union([Type.String({ format: 'date' }), Type.Null()])),
      part: Type.Optional(Type.Union([Type.Object({ n: Type.Integer() }), Type.Null()])),
      either: Type.Optional(Type.Union([Type.String(), Type.Integer(), Type.Null()])),
      many: Type.Optional(words(...Array.from({ length: 40 }, (_, index) => `v${index}`))),
      form: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Object({})])),
      list: Type.Optional(Type.Array(Type.Object({ op: words('<', '>') }), { minItems: 1 })),
      'odd/key~': Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
);

test('a value that is none of those allowed is told once, with all that are', () => {
  expect(check({ fn: 'median' })).toEqual([
    { field: 'fn', code: 'enum', message: 'must be one of "count", "sum"' },
  ]);
  expect(check({ sort: 'age' })).toEqual([
    { field: 'sort', code: 'enum', message: 'must be one of "name", "cost"' },
  ]);
  expect(check({ sort: null })).toEqual([]);
  expect(check({ metric: 'x' })).toEqual([
    { field: 'metric', code: 'enum', message: 'must be one of "users", "cost"' },
  ]);
  expect(check({ list: [{ op: '<' }, { op: '=' }] })).toEqual([
    { field: 'list.1.op', code: 'enum', message: 'must be one of "<", ">"' },
  ]);
  const [many] = check({ many: 'x' });
  expect(many!.message).toMatch(/^must be one of "v0", .*"v29" and 10 more$/);
});

test('a text that is not of its format is told once, in words', () => {
  expect(check({ id: 'abc', day: 'yesterday', at: '2026-01-01' })).toEqual([
    { field: 'day', code: 'format', message: 'is not a date, such as 2026-01-31' },
    { field: 'at', code: 'format', message: expect.stringMatching(/^is not an RFC 3339 time/) },
    { field: 'id', code: 'format', message: 'is not a UUID' },
  ]);
});

test('of a value that may be null as well, what is wrong with it is told once', () => {
  expect(check({ due: null, part: null, either: null })).toEqual([]);
  expect(check({ due: '2026-02-30' })).toEqual([
    { field: 'due', code: 'format', message: 'is not a date, such as 2026-01-31' },
  ]);
  expect(check({ due: 7 })).toEqual([{ field: 'due', code: 'type', message: 'must be string' }]);
  expect(check({ part: { n: 'x' } })).toEqual([
    { field: 'part.n', code: 'type', message: 'must be integer' },
  ]);
  expect(check({ part: {} })).toEqual([{ field: 'part.n', code: 'required', message: 'is required' }]);
  // which of several forms was meant is not known
  expect(check({ either: {} }).map(({ code }) => code)).toContain('anyOf');
});

test('all faults are told, each by its field', () => {
  const faults = check({ fn: 1, other: true, list: [], 'odd/key~': 'x' });
  expect(faults.map(({ field, code }) => [field, code])).toEqual(
    expect.arrayContaining([
      ['other', 'unknown_field'],
      ['fn', 'enum'],
      ['list', 'minItems'],
      ['odd/key~', 'type'],
    ]),
  );
  expect(check({ form: 5 }).map(({ code }) => code)).toContain('anyOf');
  expect(check([])).toEqual([{ field: 'body', code: 'type', message: 'must be object' }]);
});

test('a refusal of one field names it in its sentence, unless that is one of its own', () => {
  expect(invalidField('parent_id', 'parent_cycle', 'lies below the item itself').message).toBe(
    'parent_id: lies below the item itself',
  );
  expect(invalidField('file', 'empty_file', 'The file is empty.').message).toBe('The file is empty.');
});
