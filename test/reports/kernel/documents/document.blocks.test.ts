import { cleanHtml } from '../../../../domain/governance/soaw/soaw.content.ts';
import { columnsOf } from '../../../../reports/kernel/documents/document.columns.ts';
import { htmlBlocks } from '../../../../reports/kernel/documents/document.html.ts';
import { markdownBlocks } from '../../../../reports/kernel/documents/document.markdown.ts';

describe('Markdown', () => {
  it('tells where columns begin', () =>
    expect(markdownBlocks('|a|b|c|\n|:-|:-:|-:|\n|1|2|3|')).toMatchObject([
      { align: ['left', 'center', 'right'] },
    ]));

  it('becomes blocks', () => {
    const text =
      '# One\n\nA **b** *c* ~~d~~ `e` [f](https://f.example) [g](javascript:x)\nh\n\n3. x\n   - y\n\n> z\n\n```\n<b>\n```\n\n|k|\n|-|\n|**l**|\n\n---\n';
    expect(markdownBlocks(text, 2)).toEqual([
      { kind: 'heading', level: 2, inlines: [{ text: 'One' }] },
      {
        kind: 'paragraph',
        inlines: [
          { text: 'A ' },
          { text: 'b', bold: true },
          { text: ' ' },
          { text: 'c', italics: true },
          { text: ' ' },
          { text: 'd', strike: true },
          { text: ' ' },
          { text: 'e', code: true },
          { text: ' ' },
          { text: 'f', link: 'https://f.example' },
          { text: ' ' },
          { text: 'g' },
          { text: ' h' },
        ],
      },
      {
        kind: 'list',
        ordered: true,
        start: 3,
        items: [
          [
            { kind: 'paragraph', inlines: [{ text: 'x' }] },
            {
              kind: 'list',
              ordered: false,
              start: 1,
              items: [[{ kind: 'paragraph', inlines: [{ text: 'y' }] }]],
            },
          ],
        ],
      },
      { kind: 'quote', blocks: [{ kind: 'paragraph', inlines: [{ text: 'z' }] }] },
      { kind: 'code', text: '<b>' },
      { kind: 'table', header: [[{ text: 'k' }]], rows: [[[{ text: 'l', bold: true }]]] },
      { kind: 'rule' },
    ]);
  });

  it.each([
    ['a line of blanks', `a${' '.repeat(100_000)}b`],
    ['lists in each other', '- '.repeat(50_000)],
    ['numbered lists in each other', '1. '.repeat(33_000)],
    ['quotes in each other', '> '.repeat(50_000)],
    ['quotes in lists', '- > '.repeat(25_000)],
    ['an item of many lines', `- a\n${'  b\n'.repeat(25_000)}`],
    ['pictures in each other', '![]('.repeat(25_000)],
    ['elements in each other', '<b>'.repeat(33_000)],
  ])('is read in less than two seconds: %s', (_what, text) => {
    const begun = performance.now();
    markdownBlocks(text);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('makes one line of a paragraph whose lines begin and end with blanks', () =>
    expect(markdownBlocks('a \n  b\n c')).toEqual([{ kind: 'paragraph', inlines: [{ text: 'a b c' }] }]));

  it('shows a list item that is too long as text', () => {
    const blocks = markdownBlocks(`- ${'word '.repeat(5_000)}*end*`);
    expect(blocks).toMatchObject([{ kind: 'list', items: [[{ kind: 'paragraph' }]] }]);
    expect(JSON.stringify(blocks)).toContain('*end*');
  });

  it('tells HTML as it was typed, and goes no deeper than it must', () => {
    expect(markdownBlocks('<script>x</script>\n')).toEqual([
      { kind: 'paragraph', inlines: [{ text: '<script>x</script>' }] },
    ]);
    expect(() => JSON.stringify(markdownBlocks(`${'> '.repeat(500)}deep`))).not.toThrow();
    expect(markdownBlocks(null)).toEqual([]);
  });
});

it('HTML becomes blocks', () => {
  const html =
    '<h2>A</h2><p>b <b>c<i>d</i></b><br>e &amp; f</p><ul><li>g<ol><li>h</li></ol></li></ul>' +
    '<table><tr><th>i</th></tr><tr><td><p>j</p><p>k</p></td></tr></table><pre>l\n m</pre>n<hr>' +
    '<blockquote>o</blockquote>';
  const item = (text: string) => ({ kind: 'paragraph', inlines: [{ text }] });
  expect(htmlBlocks(cleanHtml(html))).toEqual([
    { kind: 'heading', level: 4, inlines: [{ text: 'A' }] },
    {
      kind: 'paragraph',
      inlines: [
        { text: 'b ' },
        { text: 'c', bold: true },
        { text: 'd', bold: true, italics: true },
        { text: '\n' },
        { text: 'e & f' },
      ],
    },
    {
      kind: 'list',
      ordered: false,
      start: 1,
      items: [[item('g'), { kind: 'list', ordered: true, start: 1, items: [[item('h')]] }]],
    },
    { kind: 'table', header: [[{ text: 'i' }]], rows: [[[{ text: 'j' }, { text: '\n' }, { text: 'k' }]]] },
    { kind: 'code', text: 'l\n m' },
    item('n'),
    { kind: 'rule' },
    { kind: 'quote', blocks: [item('o')] },
  ]);
  expect(htmlBlocks('')).toEqual([]);
});

it('HTML that was cleaned can always be read', () => {
  for (const html of [
    '<p>a<p>b',
    '<li>x',
    '<td>y',
    'a < b & c',
    '<b><i>x</b></i>',
    '<table><tr><td>1<table><tr><td>2',
  ])
    expect(() => htmlBlocks(cleanHtml(html)), html).not.toThrow();
});

describe('the columns of a table', () => {
  const cells = (...texts: string[]) => texts.map((text) => [{ text }]);
  it('get room for their words, and what is left as their texts are long', () => {
    const { shares, small, letters } = columnsOf(cells('Version', 'Description'), [
      cells('0.1', 'A long sentence. '.repeat(20)),
    ]);
    // of 82: 7 letters and 4 for the edges, and all the rest
    expect(shares[0]).toBeCloseTo(11 / 82);
    expect(shares[1]).toBeCloseTo(71 / 82);
    expect([small, letters[0]]).toEqual([false, 8]);
  });

  it('share all of the width, also where nothing stands, or a word without end', () => {
    for (const rows of [
      [],
      [[]],
      [cells('', 'x'.repeat(9_000), 'a b')],
      [cells(...Array(40).fill('word'))],
    ]) {
      const { shares, letters } = columnsOf(null, rows);
      expect(shares.reduce((total, share) => total + share, 0)).toBeCloseTo(1);
      expect(Math.min(...shares)).toBeGreaterThan(0);
      expect(Math.min(...letters)).toBeGreaterThan(2);
    }
  });
});
