import fc from 'fast-check';
import type { Cell, Column } from '../../../../reports/kernel/formats/formats.types.ts';
import { eachMember, jsonCell } from '../../../../reports/kernel/formats/json-members.ts';
import { writeCsv } from '../../../../reports/kernel/formats/lines.ts';
import { forAll } from '../../../support/property.ts';
import { binaryOf, Kept, tableOf, textColumns } from './tables.ts';

/** The members that are found in a text with an object inside. */
function membersIn(object: string): Record<string, unknown> {
  const text = `"x": {${object}}`;
  const found: Record<string, unknown> = {};
  const add = (key: string, from: number, to: number) => {
    found[key] = jsonCell(text.slice(from, to).trimEnd());
  };
  eachMember(text, text.indexOf('{'), text.length, add);
  return found;
}

it('finds the members of any object with keys without escapes, except null', () => {
  const value = fc.jsonValue({ noUnicodeString: false }).map((any) => JSON.parse(JSON.stringify(any)));
  const object = fc.dictionary(fc.stringMatching(/^[A-Za-z]\w{0,5}$/), value);
  forAll({ seed: 5 }, [object, fc.constantFrom('', ' ')], (members, space) => {
    const texts = Object.entries(members).map(
      ([key, any]) => `"${key}":${space}${JSON.stringify(any, null, space)}`,
    );
    const expected = Object.entries(members).filter(([, any]) => any !== null);
    expect(membersIn(texts.join(`,${space}`))).toEqual(Object.fromEntries(expected));
  });
});

it('writes rows of the database as CSV like the same rows of cells', async () => {
  const columns: Column[] = [
    ...textColumns('name', 'attributes.text', 'description'),
    { header: 'attributes.number', type: 'number' },
    { header: 'attributes.list', type: 'multi' },
    { header: 'quality', type: 'number' },
    { header: 'own', type: 'boolean' },
    { header: 'created_at', type: 'datetime' },
    { header: 'tags', type: 'multi' },
  ];
  const text = fc.oneof(
    fc.constantFrom(
      '',
      ' ',
      'a ',
      ' a',
      '-1',
      '=1',
      '＝1',
      "'=",
      '"',
      'a"b',
      '\\',
      'a;b',
      'é',
      '👩',
      '\t',
      'x\r\ny',
    ),
    fc.string({ unit: 'grapheme' }).filter((any) => any.isWellFormed() && !any.includes('\0')),
  );
  const number = fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })
    .map((any) => any + 0);
  const optional = <T extends Cell>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary);
  const time = fc
    .date({ noInvalidDate: true, min: new Date('1900-01-01'), max: new Date('2200-01-01') })
    .map((date) => date.toISOString());
  const list = fc.array(text, { minLength: 1, maxLength: 3 });
  const row = fc.tuple(
    ...[text, text, text, number, list, number, fc.boolean(), time, list].map((any) => optional<Cell>(any)),
  );
  const rows = fc.sample(row, { numRuns: 500, seed: 6 });
  for (const neutralise of [true, false]) {
    const [binary, cells] = [new Kept(), new Kept()];
    await writeCsv(binaryOf(columns, rows), binary, { neutralise });
    await writeCsv(tableOf(columns, rows), cells, { neutralise });
    expect(binary.content.toString()).toBe(cells.content.toString());
  }
});
