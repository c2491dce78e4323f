import { createRequire } from 'node:module';
import { columnsOf } from './document.columns.ts';
import { blocksOf } from './document.parts.ts';
import type { Block, Cell, Inline, PrintDocument, Table } from './document.types.ts';

/**
 * Types of the used part of pdfmake. Its own declarations include the DOM types, which conflict with those of Node.
 */
export interface PdfMaker {
  setFonts(fonts: unknown): void;
  setUrlAccessPolicy(allows: (url: string) => boolean): void;
  setLocalAccessPolicy(allows: (path: string) => boolean): void;
  createPdf(definition: object): { getBuffer(): Promise<Buffer> };
}
const load = createRequire(import.meta.url);

/** A node of pdfmake's documents. */
type Content = Record<string, unknown>;
type Margin = [left: number, top: number, right: number, bottom: number];

const COLOR = { text: '#1f2933', head: '#1c3d5a', faint: '#616e7c', line: '#cbd2d9', fill: '#eef2f6' };
const SIZES = [15, 13, 11.5, 11, 10.5, 10.5];

/** A standard PDF font; it only has Latin-1 characters. */
const COURIER = {
  normal: 'Courier',
  bold: 'Courier-Bold',
  italics: 'Courier-Oblique',
  bolditalics: 'Courier-BoldOblique',
};
const isCourier = (text: string): boolean => /^[\n\t\x20-\x7e\xa0-\xff]*$/.test(text);
const fontOfCode = (text: string) => (isCourier(text) ? { font: 'Courier' } : {});
/** Characters that fit into a line of a code block: any of Courier, the widest of the other font. */
const CODE_LINE = { courier: 84, other: 56 };
/** Text without break opportunities: the layout breaks after a hyphen or a slash before a letter. */
const UNBROKEN = /(?:[^\s/-]|[/-](?![A-Za-z]))+[/-]?/g;

/** Writes a document as PDF with the fonts of the package; nothing is loaded from the network. */
export async function writePdf(paper: PrintDocument): Promise<Buffer> {
  const pdfmake: PdfMaker = load('pdfmake');
  const fonts: { Roboto: Record<string, string> } = load('pdfmake/fonts/Roboto.js');
  pdfmake.setFonts({ ...fonts, Courier: COURIER });
  const known = [...Object.values(fonts.Roboto), ...Object.values(COURIER)];
  pdfmake.setLocalAccessPolicy((path) => known.includes(path));
  pdfmake.setUrlAccessPolicy(() => false);
  const at = new Date(paper.written);
  const definition = {
    pageSize: 'A4',
    pageMargins: [62, 56, 62, 60],
    info: {
      title: paper.title,
      subject: paper.kind,
      creator: 'Estate',
      producer: 'Estate',
      creationDate: at,
      modDate: at,
    },
    language: 'en',
    defaultStyle: { font: 'Roboto', fontSize: 10.5, lineHeight: 1.2, color: COLOR.text },
    footer: (page: number, pages: number) => ({
      text: `${paper.footer}   ·   ${page} / ${pages}`,
      alignment: 'center',
      fontSize: 8,
      color: COLOR.faint,
      margin: [0, 20, 0, 0],
    }),
    content: [
      { text: paper.kind.toUpperCase(), fontSize: 8.5, color: COLOR.faint, characterSpacing: 0.6 },
      { text: paper.title, fontSize: 21, bold: true, color: COLOR.head, margin: [0, 2, 0, 10] },
      ...(paper.notice ? [{ text: paper.notice, bold: true, color: '#a63d00', margin: [0, 0, 0, 8] }] : []),
      ...blocksOf(paper).map(blockOf),
    ],
    // no heading at the bottom of a page without text
    pageBreakBefore: (node: { headlineLevel?: number }, following: Following) =>
      node.headlineLevel !== undefined &&
      !following.getFollowingNodesOnPage().some(({ text }) => text !== undefined),
  };
  return await pdfmake.createPdf(definition).getBuffer();
}

/** The position of a node as pdfmake passes it. */
interface Following {
  getFollowingNodesOnPage(): { text?: unknown }[];
}

function blockOf(block: Block): Content {
  switch (block.kind) {
    case 'heading':
      return {
        ...flowOf(block.inlines),
        fontSize: SIZES[Math.min(block.level, 6) - 1]!,
        bold: true,
        color: COLOR.head,
        headlineLevel: block.level,
        margin: [0, block.level < 3 ? 14 : 9, 0, 4],
      };
    case 'paragraph':
      return { ...flowOf(block.inlines), margin: [0, 0, 0, 6] };
    case 'code':
      return {
        table: {
          widths: ['*'],
          body: [
            [
              {
                stack: piecesOf([{ text: codeOf(block.text) }]).map(([piece]) => ({ text: piece!.text })),
                fontSize: 9,
                preserveLeadingSpaces: true,
                ...fontOfCode(block.text),
              },
            ],
          ],
        },
        layout: {
          defaultBorder: false,
          fillColor: () => COLOR.fill,
          paddingLeft: () => 7,
          paddingRight: () => 7,
          paddingTop: () => 5,
          paddingBottom: () => 5,
        },
        margin: [0, 2, 0, 8],
      };
    case 'quote':
      return {
        table: { widths: ['*'], body: [[{ stack: block.blocks.map(blockOf) }]] },
        layout: {
          hLineWidth: () => 0,
          vLineWidth: (n: number) => (n === 0 ? 2 : 0),
          vLineColor: () => COLOR.line,
          paddingLeft: () => 9,
          paddingTop: () => 1,
          paddingBottom: () => 0,
        },
        margin: [0, 2, 0, 6],
      };
    case 'rule': {
      const canvas = [{ type: 'line', x1: 0, y1: 0, x2: 471, y2: 0, lineWidth: 0.6, lineColor: COLOR.line }];
      return { canvas, margin: [0, 6, 0, 8] };
    }
    case 'list': {
      const items = block.items.map((item): Content => ({ stack: item.map(blockOf) }));
      const margin: Margin = [0, 0, 0, 4];
      return block.ordered ? { ol: items, start: block.start, margin } : { ul: items, margin };
    }
    case 'table':
      return table(block);
  }
}

function table({ header, rows, align, widths }: Table): Content {
  const { shares, small, letters } = columnsOf(header, rows);
  const columns = shares.length;
  const rowOf = (cells: Cell[], head: boolean): Content[] =>
    Array.from({ length: columns }, (_, n) => {
      const inlines = (cells[n] ?? []).map((inline) => (head ? { ...inline, bold: true } : inline));
      return {
        ...flowOf(inlines, widths ? undefined : letters[n]),
        ...(align?.[n] ? { alignment: align[n] } : {}),
        fontSize: small ? 7.5 : 9.5,
        ...(head || (widths && n === 0) ? { fillColor: COLOR.fill } : {}),
      };
    });
  return {
    table: {
      headerRows: header ? 1 : 0,
      // nor does the first line of a table
      keepWithHeaderRows: header ? 1 : 0,
      dontBreakRows: rows.every((row) => row.every((cell) => lengthOf(cell) < 1_500)),
      widths: (widths ?? shares).map((share) => `${share * 100}%`),
      body: [...(header ? [rowOf(header, true)] : []), ...rows.map((row) => rowOf(row, false))],
    },
    layout: {
      hLineWidth: () => 0.6,
      vLineWidth: () => 0.6,
      hLineColor: () => COLOR.line,
      vLineColor: () => COLOR.line,
      paddingTop: () => 4,
      paddingBottom: () => 3,
      paddingLeft: () => (small ? 2.5 : 6),
      paddingRight: () => (small ? 2.5 : 6),
    },
    margin: [0, 4, 0, 10],
  };
}

const lengthOf = (cell: Cell): number => cell.reduce((sum, { text }) => sum + text.length, 0);

/** A text; an extremely long one is split into several paragraphs. */
function flowOf(inlines: Inline[], longest?: number): Content {
  const [first = [], ...more] = piecesOf(inlines);
  if (more.length === 0) return { text: textOf(first, longest) };
  return { stack: [first, ...more].map((piece) => ({ text: textOf(piece, longest) })) };
}

/** @param longest maximum characters of a word; a longer one is broken, since it would overlap the next column. */
function textOf(inlines: Inline[], longest = 80): Content[] {
  return inlines.map(({ text, link, code, bold, italics, strike, underline, subscript, superscript }) => ({
    text: breakable(text, longest),
    ...(bold ? { bold } : {}),
    ...(italics ? { italics } : {}),
    ...(strike ? { decoration: 'lineThrough' } : {}),
    ...(underline || link ? { decoration: 'underline' } : {}),
    ...(subscript ? { sub: true } : {}),
    ...(superscript ? { sup: true } : {}),
    ...(code ? { background: COLOR.fill, ...fontOfCode(text) } : {}),
    ...(link ? { link, color: '#1d5fa8' } : {}),
  }));
}

/**
 * A code block in which every word can be made to fit into a line: a longer one widens the block beyond the page. Courier
 * has no zero-width space, so its words get line breaks.
 */
const codeOf = (text: string): string =>
  isCourier(text) ? breakable(text, CODE_LINE.courier, '\n', UNBROKEN) : breakable(text, CODE_LINE.other);

/** A text in which words of more than `longest` characters can be broken. */
const breakable = (text: string, longest: number, between = '\u200b', words = /\S+/g): string =>
  text.replace(words, (word) =>
    word.length <= longest
      ? word
      : (word.match(new RegExp(`.{1,${longest}}`, 'gsu')) ?? [word]).join(between),
  );

/**
 * The most characters that are laid out as one text. The time of the layout grows with the square of the number of words,
 * and of the characters of a word that is longer than a line.
 */
const PIECE = 10_000;

/**
 * Splits a text into pieces to be laid out one below the other; joined, they are the text. Only a text of more than `PIECE`
 * characters is split: after a line break, else after a word, else within a word that is longer than half a piece.
 */
export function piecesOf(inlines: readonly Inline[]): Inline[][] {
  const pieces: Inline[][] = [];
  let piece: Inline[] = [];
  let room = PIECE;
  for (const inline of inlines) {
    let rest = inline.text;
    while (rest.length > room) {
      const cut = cutAt(rest, room);
      if (cut > 0) piece.push({ ...inline, text: rest.slice(0, cut) });
      if (piece.length > 0) pieces.push(piece);
      rest = rest.slice(cut);
      piece = [];
      room = PIECE;
    }
    // an inline costs time as well, so that empty ones are counted too
    room = Math.max(0, room - rest.length - 1);
    if (rest !== '' || inlines.length === 1) piece.push({ ...inline, text: rest });
  }
  return piece.length > 0 || pieces.length === 0 ? [...pieces, piece] : pieces;
}

/** Where to split within the first `room` characters; 0 for before all of them. */
function cutAt(text: string, room: number): number {
  const part = text.slice(0, room);
  const line = part.lastIndexOf('\n') + 1;
  if (line > PIECE / 2) return line;
  const word = /^.*\s/su.exec(part)?.[0].length ?? 0;
  if (word > 0) return word;
  // a word that begins near the end of a piece goes to the next one
  if (room < PIECE / 2) return 0;
  // not between the two units of a surrogate pair
  return part.isWellFormed() ? room : room - 1;
}
