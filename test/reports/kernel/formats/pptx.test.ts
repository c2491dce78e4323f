import { writePptx } from '../../../../reports/kernel/formats/pptx.ts';
import { unpack } from '../../../support/archives.ts';

const look = {
  language: 'de',
  background: '#ffffff',
  text: '#111111',
  faint: '#555555',
  line: '#cccccc',
  fill: '#eeeeee',
};

/** The XML of the slide with a table. */
async function slideWith(columns: string[], rows: string[][]): Promise<string> {
  const content = { columns: columns.map((name) => ({ name, right: false })), rows };
  const pptx = await writePptx([{ title: 'Table', line: '', footer: '', content }], look);
  return (await unpack(pptx)).get('ppt/slides/slide1.xml')!.toString();
}

const widthsIn = (slide: string) =>
  [...slide.matchAll(/<a:gridCol w="(\d+)"/g)].map(([, width]) => Number(width));

it('columns are as wide as their headers and cells need', async () => {
  const names = [
    'Name',
    'Jährliche Gesamtkosten',
    'Geschäftskritikalität',
    'Seit',
    'Bis',
    'Phase',
    'Nr.',
    'Typ',
  ];
  const name = 'A name that takes more room than an eighth of the slide';
  const slide = await slideWith(names, [[name, '1', 'hoch', '2026', '2027', 'Aktiv', '1', 'App']]);
  for (const text of [...names, name]) expect(slide).toContain(`<a:t>${text}</a:t>`);
  expect(slide).not.toContain('…');
  const widths = widthsIn(slide);
  expect(widths[0]).toBeGreaterThan(2 * widths[3]!);
  expect(widths.reduce((sum, width) => sum + width)).toBeLessThanOrEqual(12_192_000 - 2 * 457_200);
});

it('where nothing has enough room, all are cut alike', async () => {
  const long = 'x'.repeat(200);
  const slide = await slideWith([long, long, 'Short'], [[long, long, 'y']]);
  expect(slide).toContain('<a:t>Short</a:t>');
  const [first, second, third] = widthsIn(slide);
  expect(first).toBe(second);
  expect(third).toBeLessThan(first! / 3);
});
