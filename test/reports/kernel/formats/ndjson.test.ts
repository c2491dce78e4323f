import type { Cell, Column } from '../../../../reports/kernel/formats/formats.types.ts';
import { writeNdjson } from '../../../../reports/kernel/formats/lines.ts';
import { binaryOf, Kept, textColumns } from './tables.ts';

async function written(columns: Column[], rows: Cell[][], end?: string): Promise<unknown[]> {
  const out = new Kept();
  await writeNdjson(binaryOf(columns, rows), out, { end });
  expect(out.writableFinished).toBe(true);
  const lines = out.content.toString().split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line));
}

it('writes every text as any reader of JSON reads it, one object a line', async () => {
  const texts = [
    '',
    'plain',
    '"',
    '\\',
    '\\.',
    'a\nb\r\n',
    '\t\u0001\u0002\u0007',
    '漢字 👩',
    "'=1",
    ',',
    '\u2028',
  ];
  const rows = [...texts, 'ä"'.repeat(100_000)].map((text) => [text, null]);
  expect(await written(textColumns('text', 'none'), rows)).toEqual(rows.map(([text]) => ({ text })));
});

it('nests lifecycle and attributes, leaves out what is empty, and writes stored attributes as they are', async () => {
  const columns: Column[] = [
    ...textColumns('id', 'lifecycle.active', 'lifecycle.plan', 'attributes.cost', 'attributes.a.b'),
    { header: 'tags', type: 'multi' },
  ];
  const rows: Cell[][] = [
    ['1', '2026-01-01', null, 0.125, true, ['x', 'y']],
    ['2', null, null, null, undefined, null],
  ];
  expect(await written(columns, rows)).toEqual([
    {
      id: '1',
      lifecycle: { active: '2026-01-01' },
      attributes: { cost: 0.125, 'a.b': true },
      tags: ['x', 'y'],
    },
    { id: '2' },
  ]);
  const whole: Column[] = [{ header: 'attributes', type: 'json' }, ...textColumns('id')];
  expect(
    await written(whole, [
      ['{"a": 1}', '1'],
      ['{"b": [null]}', null],
      [null, null],
    ]),
  ).toEqual([{ id: '1', attributes: { a: 1 } }, { attributes: { b: [null] } }, {}]);
});

it('ends with the position from which changes are extracted next', async () =>
  expect(await written(textColumns('id'), [['1']], '17')).toEqual([
    { id: '1' },
    { end: true, position: '17' },
  ]));
