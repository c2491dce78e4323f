import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import {
  type CardFact,
  cardsOf,
  cellsOf,
  htmlText,
  isOutdated,
  linkedCard,
  MAX_DRAWING,
  packPage,
  readDrawing,
  renamed,
  unpackPage,
  updateCards,
} from '../../../../domain/modelling/diagrams/drawing.work.ts';
import { checkThumbnail } from '../../../../domain/modelling/diagrams/drawings.store.ts';
import { xmlAttribute } from '../../../../platform/xml.ts';
import { forAll } from '../../../support/property.ts';

const A = '0190a000-0000-7000-8000-00000000000a';
const B = '0190b000-0000-7000-8000-00000000000b';
const C = '0190c000-0000-7000-8000-00000000000c';

const cell = (id: string, attributes: string, style = 'rounded=1') =>
  `<UserObject  id="${id}" ${attributes}>\r\n<mxCell style="${style}" vertex="1" parent="1"/>\n</UserObject>`;
const model = (...cells: string[]) =>
  `<mxGraphModel dx="1"><root><mxCell id="0"/><mxCell id="1" parent="0"/>${cells.join('')}</root></mxGraphModel>`;
const fact = (more: Partial<CardFact> = {}): CardFact => ({
  id: A,
  now: A,
  was: 'Payroll',
  name: 'Payroll',
  state: 'active',
  ...more,
});

describe('a drawing', () => {
  it('names cards by cardId and by links, in plain and packed pages', () => {
    const plain = model(
      cell('2', `label="x" cardId="${A.toUpperCase()}"`),
      `<object id="3" label="y" link="https://estate.example/app/#/cards/${B}?tab=1"><mxCell/></object>`,
      `<mxCell id="4" cardId="not an id" link="/cards/${C}x"/>`,
    );
    const packed = packPage(model(`<object label="ü 😀" cardId="${C}"/>`));
    const file = `<?xml version="1.0"?>\n<!-- by hand --><mxfile><diagram id="a">${plain}</diagram><diagram>\n ${packed}\n</diagram><diagram/></mxfile>`;
    const drawing = readDrawing(file);
    expect(cardsOf(drawing)).toEqual([A, B, C]);
    for (const { start, end } of drawing.cells) expect(file.slice(start, end)).toMatch(/^<\w+[^<>]*>$/);
    const [page] = drawing.packed;
    expect(file.slice(page!.start, page!.end).trim()).toBe(packed);
    expect(linkedCard(`/cards/${A}`)).toBe(A);
    expect(linkedCard('data:page/id,1')).toBeUndefined();
  });

  it('is refused where it is none, or too much', () => {
    const refused = (xml: string) => {
      const begun = performance.now();
      let message = '';
      try {
        readDrawing(xml);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(performance.now() - begun).toBeLessThan(5_000);
      return message;
    };
    expect(refused('')).toMatch(/well-formed/);
    expect(refused('<svg/>')).toMatch(/root/);
    expect(refused('<mxfile><diagram>')).toMatch(/well-formed/);
    expect(refused('<!DOCTYPE mxfile [<!ENTITY a "b">]><mxfile/>')).toMatch(/document type/);
    expect(refused('<mxGraphModel a="&lol;"/>')).toMatch(/well-formed/);
    expect(refused('<?php a?><mxfile/>')).toMatch(/processing instruction/);
    expect(refused('<mxfile>'.repeat(100))).toMatch(/deep/);
    expect(refused(`<mxfile>${'<a/>'.repeat(300_000)}</mxfile>`)).toMatch(/elements/);
    expect(refused(`<mxfile>${'x'.repeat(MAX_DRAWING)}</mxfile>`)).toMatch(/characters/);
    const page = (text: string) => `<mxfile><diagram>${text}</diagram></mxfile>`;
    expect(refused(page('hello, world'))).toMatch(/packed/);
    expect(refused(page('AAAA'))).toMatch(/unpacked/);
    expect(refused(page(packPage('<svg/>')))).toMatch(/mxGraphModel/);
    expect(refused(page(packPage('<!DOCTYPE a><mxGraphModel/>')))).toMatch(/document type/);
    const bomb = deflateRawSync('a'.repeat(100_000_000)).toString('base64');
    expect(refused(page(bomb))).toMatch(/too large when unpacked/);
    expect(refused(page(packPage(model('<mxCell/>'.repeat(900_000)))))).toMatch(/elements/);
    expect(refused(`<mxfile>${'<diagram/>'.repeat(501)}</mxfile>`)).toMatch(/pages/);
  });

  it('is packed as draw.io does it', () => {
    expect(unpackPage(packPage('<a b="ü 😀 %41">'), 100)).toBe('<a b="ü 😀 %41">');
    expect(() => unpackPage(packPage('x'.repeat(101)), 100)).toThrow('too large when unpacked');
  });
});

describe('following cards', () => {
  it('changes labels that say the former name, and nothing else', () => {
    const packed = model(cell('9', `label="&lt;b&gt;Payroll&lt;/b&gt;" cardId="${A}"`, 'a=1;html=1;'));
    const own = cell('3', `label='Our payroll' cardId="${A}"`);
    const file = (label: string, page: string) =>
      `<mxfile a='1'><diagram>${model(cell('2', `label="${label}" cardId="${A}"`), own)}</diagram><diagram name="p">${page}</diagram></mxfile>`;
    const before = file('Payroll', packPage(packed));
    const facts = [fact({ name: 'Pay & "roll"' })];
    expect(isOutdated(facts, false)).toBe(true);
    const after = updateCards(before, facts);
    const [first, second, third] = cellsOf(readDrawing(after));
    expect(first!.attributes).toEqual({ id: '2', label: 'Pay & "roll"', cardId: A });
    expect(second!.attributes.label).toBe('Our payroll');
    expect(third!.attributes.label).toBe('<b>Pay &amp; &quot;roll&quot;</b>');
    expect(after).toContain(own);
    expect(after.replace(/<UserObject id="2"[^>]*>/, '').length).toBeGreaterThan(before.length - 200);
    // and back
    const back = updateCards(after, [fact({ was: 'Pay & "roll"', name: 'Payroll' })]);
    const labels = cellsOf(readDrawing(back)).map(({ attributes }) => attributes.label);
    expect(labels).toEqual(['Payroll', 'Our payroll', '<b>Payroll</b>']);
  });

  it('names the card that stayed of a merged one, and marks archived and deleted ones', () => {
    const xml = model(cell('2', `label="Payroll" cardId="${A}" link="/cards/${A}"`));
    const [merged] = readDrawing(updateCards(xml, [fact({ now: B, name: 'Wages' })])).cells;
    expect(merged!.attributes).toEqual({ id: '2', label: 'Wages', cardId: B, link: `/cards/${B}` });
    const gone = updateCards(xml, [fact({ state: 'deleted' })]);
    expect(readDrawing(gone).cells[0]!.attributes.cardState).toBe('deleted');
    expect(isOutdated([fact()], true)).toBe(true);
    expect(updateCards(gone, [fact()])).toBe(xml.replace('<UserObject  ', '<UserObject '));
    expect(isOutdated([fact()], false)).toBe(false);
    expect(updateCards(xml, [fact()])).toBe(xml);
    expect(updateCards(xml, [])).toBe(xml);
  });

  it('finds a name in whatever HTML it stands, and only alone', () => {
    expect(renamed('A', 'A', 'B', false)).toBe('B');
    expect(renamed('<b>A</b>', 'A', 'B', false)).toBe('<b>A</b>');
    expect(renamed('<div><b> A </b><br></div>', 'A', '<B>', true)).toBe('<div><b> &lt;B&gt; </b><br></div>');
    expect(renamed('a &amp;&#32;b', 'a & b', 'c', true)).toBe('c');
    expect(renamed('A<br>A', 'A', 'B', true)).toBe('A<br>A');
    expect(renamed('', '', 'B', true)).toBe('');
    const begun = performance.now();
    renamed('<'.repeat(1_000_000), 'A', 'B', true);
    renamed(`${' '.repeat(1_000_000)}x`, 'A', 'B', true);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('follows any name there and back, in text and HTML', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .filter((text) => text.trim() === text && !/[\p{Cc}\ufffe\uffff]/u.test(text) && text.isWellFormed());
    forAll(60, [name, name, fc.boolean()], (was, next, html) => {
      const label = html ? `<i>${htmlText(was)}</i>` : was;
      const xml = model(cell('2', `label="${xmlAttribute(label)}" cardId="${A}"`, html ? 'html=1' : ''));
      const there = updateCards(xml, [fact({ was, name: next })]);
      expect(readDrawing(there).cells[0]!.attributes.label).toBe(html ? `<i>${htmlText(next)}</i>` : next);
      const back = updateCards(there, [fact({ was: next, name: was })]);
      expect(readDrawing(back).cells[0]!.attributes.label).toBe(label);
    });
  });
});

describe('a thumbnail', () => {
  const png = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1').toString('base64')}`;
  const svg = (content: string) => `data:image/svg+xml;base64,${Buffer.from(content).toString('base64')}`;
  const plain = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>';

  it('is a picture by its bytes that runs nothing', async () => {
    for (const good of [png, svg(plain), `data:image/svg+xml;utf8,${encodeURIComponent(plain)}`])
      expect(await checkThumbnail(good)).toBe(good);
    const bad = [
      'https://estate.example/a.png',
      'data:text/html;base64,AAAA',
      'data:image/png;base64,AAAA',
      'data:image/png,abc',
      `data:image/jpeg;base64,${png.slice(22)}`,
      svg(plain.replace('<rect', '<script/><rect')),
      svg(plain.replace('<rect', '<rect onload="x()"')),
      svg(`<!DOCTYPE svg>${plain}`),
      `data:image/svg+xml,%E0%A4%A`,
      `data:image/png;base64,${'A'.repeat(300_000)}`,
      `data:image/png${';a'.repeat(100_000)}`,
    ];
    for (const text of bad) await expect(checkThumbnail(text), text.slice(0, 60)).rejects.toThrow();
  });

  it('of much SVG is checked while the process answers others', async () => {
    const large = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg">${'<a href="a"/>'.repeat(22_000)}</svg>`;
    let answered = false;
    setImmediate(() => {
      answered = true;
    });
    expect(await checkThumbnail(large)).toBe(large);
    expect(answered).toBe(true);
    await expect(checkThumbnail(large.replace('</svg>', '<script/></svg>'))).rejects.toMatchObject({
      errors: [{ code: 'bad_thumbnail', message: expect.stringContaining('script element') }],
    });
  });
});
