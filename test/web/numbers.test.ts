import { numberOf, numberText } from '../../web/src/kit/numbers.ts';

test.each([
  ['de', '12.345', 12345],
  ['de', '1.234.567,5', 1234567.5],
  ['de', '7,5', 7.5],
  ['de', '5145.5', 5145.5],
  ['de', '-1 200', -1200],
  ['de', '12,345,678', undefined],
  ['en', '12,345', 12345],
  ['en', '12.345', 12.345],
  ['en', '\u22127.5', -7.5],
  ['en', '7,5', undefined],
  ['en', "1'000'000", 1_000_000],
  ['en', 'many', undefined],
] as const)('in %s, %s is %s', (language, text, number) => {
  expect(numberOf(text, language)).toBe(number);
});

test('a number is read as it was shown', () => {
  for (const value of [514.123, -0.5, 1_000_000, 12345.678])
    for (const language of ['en', 'de'] as const)
      expect(numberOf(numberText(value, language), language)).toBe(value);
});
