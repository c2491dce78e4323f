import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { neutralise, quoteCell } from '../../../domain/transfer/csv-cells.ts';
import { csvCellSql } from '../../../reports/extraction/extraction.pack.ts';
import { createTestServices, type TestServices } from '../../support/harness.ts';

let t: TestServices;
beforeAll(async () => {
  t = await createTestServices();
});
afterAll(() => t.close());

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .array(fc.constantFrom(...'=+-@\'" ,;\\/\t\r\n\u00a0\u2028é漢👩a'), { maxLength: 8 })
    .map((characters) => characters.join('')),
);

it.each([true, false])(
  'writes cells in the database as this process writes them, guarded: %s',
  async (guard) => {
    const values = fc
      .sample(text, { numRuns: 3_000, seed: 11 })
      .filter((value) => !value.includes('\0') && value.isWellFormed());
    const { rows } = await t.services.db.raw(
      `select ${csvCellSql('x.value', 'text', guard).replaceAll('?', '\\?')} as cell
     from jsonb_array_elements_text(?::jsonb) with ordinality as x(value, n) order by x.n`,
      [JSON.stringify(values)],
    );
    expect(rows.map(({ cell }: { cell: string }) => cell)).toEqual(
      values.map((value) => quoteCell(guard ? neutralise(value) : value)),
    );
  },
);
