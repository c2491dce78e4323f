import fc from 'fast-check';
import known from './hostile.json' with { type: 'json' };

// JSON loaders refuse a lone surrogate
const texts = [...known.texts, '\ud800', '9'.repeat(40), '(('.repeat(300), 'a'.repeat(5_000)];

/** Texts that break careless programs. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  fc.string({ unit: 'binary', maxLength: 40 }),
);

/** Values that break careless programs, wherever they are put. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    0.1,
    1e308,
    -0,
    2 ** 31,
    2 ** 53,
    [],
    {},
    [[[[[[]]]]]],
    [null],
    JSON.parse('{"__proto__":{"admin":true}}'),
    { constructor: { prototype: { admin: true } } },
    Array.from({ length: 300 }, () => 'x'),
    Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at])),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Bodies that are no JSON, or no JSON that a service should trust. */
export const hostileBody: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...known.bodies,
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
  ),
  hostileValue.map((value) => JSON.stringify(value) ?? ''),
);

/** Headers that the service reads, with values that it may not expect. */
export const hostileHeaders: fc.Arbitrary<Record<string, string>> = fc.constantFrom(
  ...(known.headers as Record<string, string>[]),
);
