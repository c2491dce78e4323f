import pg from 'pg';
import { expect, test } from 'vitest';
import { literal, withLiterals } from '../../platform/literals.ts';

test('quotes texts as the driver does', () => {
  for (const text of ['', 'plain', "it's", "''", '\\', "\\'", "a\\'b''\\\\", '$&', 'ü\n\t"']) {
    expect(literal(text)).toBe(pg.escapeLiteral(text));
  }
});

test('writes arrays as PostgreSQL reads them', () => {
  expect(literal(['a', null, 'b"c', "d'e"])).toBe(` E'{"a",NULL,"b\\\\"c","d''e"}'`);
});

test('refuses a statement whose places and values differ in number', () => {
  expect(() => withLiterals('select ?, ?', [1])).toThrow('2 places for 1 values');
});
