import { inflateSync } from 'node:zlib';
import { piecesOf } from '../../../../reports/kernel/documents/document.pdf.ts';
import type { Inline, PrintDocument } from '../../../../reports/kernel/documents/document.types.ts';
import { render } from '../../../../reports/kernel/rendering/rendering.queue.ts';

const textOf = (inlines: Inline[]) => inlines.map(({ text }) => text).join('');

it('leaves a text of usual length as it is', () => {
  const paragraph = [{ text: 'words of a paragraph\n'.repeat(400) }, { text: 'and bold ones', bold: true }];
  expect(piecesOf(paragraph)).toEqual([paragraph]);
  const inlines = [{ text: 'Some ' }, { text: 'words', bold: true }, { text: '\nin lines' }];
  expect(piecesOf(inlines)).toEqual([inlines]);
  expect(piecesOf([])).toEqual([[]]);
  expect(piecesOf([{ text: '' }])).toEqual([[{ text: '' }]]);
});

it.each([
  ['a word of a megabyte', [{ text: 'abcdefghij'.repeat(100_000) }]],
  ['surrogate pairs', [{ text: `a${'😀'.repeat(100_000)}` }]],
  ['words', [{ text: 'some words '.repeat(20_000), bold: true }]],
  ['lines', [{ text: `${'x'.repeat(90)}\n\n`.repeat(2_000) }]],
  ['spaces', [{ text: ' '.repeat(50_000) }]],
  ['many short inlines', Array.from({ length: 50_000 }, (_, n) => ({ text: 'ab', italics: n % 2 === 0 }))],
  ['a long word after a short one', [{ text: 'short ' }, { text: 'y'.repeat(25_000) }, { text: 'z' }]],
])('cuts %s into pieces of bounded length that are the whole text', (_, inlines: Inline[]) => {
  const pieces = piecesOf(inlines);
  expect(pieces.map(textOf).join('')).toBe(textOf(inlines));
  for (const piece of pieces) {
    expect(piece.length).toBeLessThanOrEqual(10_000);
    expect(textOf(piece).length).toBeLessThanOrEqual(10_000);
    expect(textOf(piece).isWellFormed()).toBe(true);
  }
  expect(pieces.flat().every(({ bold }) => bold === inlines[0]!.bold)).toBe(true);
});

it('keeps lines and words whole', () => {
  const words = piecesOf([{ text: 'word '.repeat(10_000) }]).map(textOf);
  expect(words.every((text) => text.endsWith('word '))).toBe(true);
  const lines = piecesOf([{ text: 'a line of words\n'.repeat(5_000) }]).map(textOf);
  expect(lines.every((text) => text.endsWith('words\n'))).toBe(true);
});

const paperOf = (text: string): PrintDocument => ({
  kind: 'Decision',
  title: 'Long',
  facts: [['Number', '1']],
  parts: [{ kind: 'markdown', text, level: 1 }],
  signatures: [],
  notice: null,
  footer: 'Long',
  written: '2026-01-01T00:00:00.000Z',
});

/** The lines of the code blocks of a PDF, which are the only texts of 9 points. */
function codeLines(pdf: Buffer): string[] {
  const pages = [...pdf.toString('latin1').matchAll(/FlateDecode\n>>\nstream\n(.*?)\nendstream/gs)]
    .map(([, stream]) => inflateSync(Buffer.from(stream!, 'latin1')).toString('latin1'))
    .filter((stream) => stream.includes('\nBT\n'));
  const lines = new Map<string, string>();
  for (const [n, page] of pages.entries()) {
    for (const [, y, shown] of page.matchAll(/1 0 0 1 \S+ (\S+) Tm\n\/F\d+ 9 Tf\n\[<(.*?)> 0\] TJ/g)) {
      const at = `${n} ${y}`;
      lines.set(at, (lines.get(at) ?? '') + Buffer.from(shown!, 'hex').toString('latin1'));
    }
  }
  return [...lines.values()];
}

it('breaks a word of code only where it would be wider than the page', async () => {
  const address = `https://example.com/${'part/'.repeat(11)}of-an-address`;
  const code = `first {\n  indented;\n${address}\n${'x'.repeat(84)}\n${'y'.repeat(90)}\n}`;
  expect(codeLines(await render({ make: 'pdf', paper: paperOf(`\`\`\`\n${code}\n\`\`\``) }))).toEqual([
    'first {',
    '  indented;',
    address.slice(0, -'address'.length),
    'address',
    'x'.repeat(84),
    'y'.repeat(84),
    'y'.repeat(6),
    '}',
  ]);
});

it.each([
  ['a code block with a word of a megabyte', `\`\`\`\n${'abcdefghij'.repeat(100_000)}\n\`\`\``],
  ['a word of a megabyte', 'abcdefghij'.repeat(100_000)],
  ['a word that may be broken everywhere', 'a-'.repeat(50_000)],
])(
  'makes a PDF of %s within the time for a document',
  async (_, text) => {
    const pdf = await render({ make: 'pdf', paper: paperOf(text) });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    // a line holds at most 90 characters, a page at most 100 lines
    expect(Number(/\/Count (\d+)/.exec(pdf.toString('latin1'))?.[1])).toBeGreaterThan(text.length / 90 / 100);
  },
  60_000,
);
