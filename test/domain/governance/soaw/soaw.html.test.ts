import fc from 'fast-check';
import { cleanHtml, sectionElements } from '../../../../domain/governance/soaw/soaw.content.ts';
import { forAll } from '../../../support/property.ts';
import hostile from './soaw.html.hostile.json' with { type: 'json' };

it('keeps what a text is made of', () => {
  const text =
    '<h2>Scope</h2><p>One <strong>desk</strong><br />for <a href="https://a.example/?b=1&amp;c=2">all</a></p><ul><li>x</li></ul>';
  expect(cleanHtml(text)).toBe(text);
  const table = '<table><tbody><tr><td colspan="2">1 &lt; 2</td></tr></tbody></table>';
  expect(cleanHtml(table)).toBe(table);
});

it.each(hostile as [string, string, string][])('loses %s', (_, given, kept) => {
  expect(cleanHtml(given)).toBe(kept);
});

it('has no other elements and attributes, is well formed, and stays as it is, whatever was sent', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '<script>',
      '</p>',
      '<p ',
      'onload=x',
      '>',
      '<',
      '"',
      "'",
      '&lt;',
      '<b>',
      '<svg/onload=1>',
      '<a href=',
      'javascript:',
      '<!--',
      '-->',
      '<math>',
      '</style>',
      '<textarea>',
    ),
    fc.string({ maxLength: 5 }),
  );
  forAll(200, [fc.array(piece, { maxLength: 20 })], (pieces) => {
    const clean = cleanHtml(pieces.join(''));
    expect(cleanHtml(clean)).toBe(clean);
    for (const [, name, attributes] of clean.matchAll(/<\/?([a-z0-9]+)([^>]*)>/gi)) {
      expect(sectionElements).toContain(name!.toLowerCase());
      expect(attributes).toMatch(/^( \/)?$|^ href="(?!(?!https?:|mailto:)[a-z][a-z0-9+.-]*:)[^"]*"$/i);
    }
  });
});

it('is not read deeper than a reader would', () =>
  expect(cleanHtml('<ul><li>'.repeat(2000)).match(/<ul>/g)!.length).toBeLessThanOrEqual(30));
