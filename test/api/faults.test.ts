import Type from 'typebox';
import { expect, test } from 'vitest';
import { createBodyCheck } from '../../api/plugins/validation.ts';
import { closed, Nullable, Uuid } from '../../api/schemas/common.ts';

const Level = Type.Union([Type.Literal('low'), Type.Literal('high')]);
const check = createBodyCheck(
  Type.Object(
    {
      level: Type.Optional(Level),
      perhaps: Type.Optional(Nullable(Level)),
      count: Type.Optional(Nullable(Type.Integer({ maximum: 5 }))),
      value: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Number()])),
      id: Type.Optional(Type.String(Uuid)),
      day: Type.Optional(Nullable(Type.String({ format: 'date' }))),
      many: Type.Optional(
        Type.Union(Array.from({ length: 25 }, (_, n) => Type.Literal(`option${n}`))),
      ),
      parts: Type.Optional(
        Type.Array(Type.Union([Type.Object({ a: Type.String() }, closed), Type.Object({ b: Level }, closed)])),
      ),
    },
    closed,
  ),
);

test.each<[unknown, object[]]>([
  [{ level: 'huge' }, [{ field: 'level', code: 'enum', message: 'must be low or high' }]],
  [{ perhaps: 'huge' }, [{ field: 'perhaps', code: 'enum', message: 'must be low, high or null' }]],
  [{ count: 9 }, [{ field: 'count', code: 'maximum', message: 'must be <= 5' }]],
  [{ count: 'a' }, [{ field: 'count', code: 'type', message: 'must be integer or null' }]],
  [{ value: 'long' }, [{ field: 'value', code: 'maxLength', message: 'must not have more than 3 characters' }]],
  [{ value: [] }, [{ field: 'value', code: 'type', message: 'must be string or number' }]],
  [{ id: 'x' }, [{ field: 'id', code: 'format', message: 'must be a UUID' }]],
  [{ day: '2026-02-30' }, [{ field: 'day', code: 'format', message: 'must be a date, YYYY-MM-DD' }]],
  [{ more: 1 }, [{ field: 'more', code: 'unknown_field', message: 'is not a known field' }]],
])('%j is refused with what would fit', (value, errors) => {
  expect(check(value)).toEqual(errors);
});

test('of many values the first are named', () => {
  const [error, ...others] = check({ many: 'x' });
  expect(others).toEqual([]);
  expect(error!.message).toMatch(/^must be one of option0, .*option19 and 5 more$/);
});

test('of alternatives within lists each place is told of, and nothing is lost', () => {
  const errors = check({ parts: [{ b: 'huge' }, 7] });
  expect(errors.map(({ field }) => field)).toEqual(
    expect.arrayContaining(['parts.0.b', 'parts.1']),
  );
  expect(check({ parts: [{ a: 'x' }, { b: 'low' }], perhaps: null, count: null })).toEqual([]);
});
