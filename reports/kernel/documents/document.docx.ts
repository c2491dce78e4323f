import {
  AlignmentType,
  BorderStyle,
  Document,
  ExternalHyperlink,
  Footer,
  HeadingLevel,
  type ILevelsOptions,
  type IParagraphOptions,
  LevelFormat,
  LineRuleType,
  Packer,
  PageNumber,
  Paragraph,
  type ParagraphChild,
  ShadingType,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from 'docx';
import { columnsOf } from './document.columns.ts';
import { blocksOf } from './document.parts.ts';
import type { Block, Cell, Inline, PrintDocument, Table as TableBlock } from './document.types.ts';

const HEADINGS = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
] as const;
/** Twentieths of a point: A4 less its margins. */
const WIDTH = 9_070;
const COLOR = { text: '1f2933', head: '1c3d5a', faint: '616e7c', line: 'cbd2d9', fill: 'eef2f6' };
/** Half points of the texts in tables of many columns. */
const SMALL = 15;
const ALIGNMENTS = {
  left: AlignmentType.LEFT,
  center: AlignmentType.CENTER,
  right: AlignmentType.RIGHT,
} as const;
/** The deepest level of lists that Word numbers. */
const LEVELS = 9;

/** Writes a document as DOCX (Office Open XML). */
export async function writeDocx(given: PrintDocument): Promise<Buffer> {
  const paper = withPrintableTexts(given);
  const lists = numbering();
  const paragraph = { spacing: { before: 180, after: 60 }, keepNext: true };
  const deepest = { run: { size: 22, bold: true, color: COLOR.head }, paragraph };
  const body: (Paragraph | Table)[] = [
    new Paragraph({
      children: [new TextRun({ text: paper.kind, color: COLOR.faint, allCaps: true, size: 18 })],
    }),
    new Paragraph({ text: paper.title, heading: HeadingLevel.TITLE }),
    ...(paper.notice
      ? [new Paragraph({ children: [new TextRun({ text: paper.notice, bold: true, color: 'a63d00' })] })]
      : []),
    ...blocksOf(paper).flatMap((block) => blockOf(block, lists, 0)),
  ];
  const document = new Document({
    title: paper.title,
    subject: paper.kind,
    creator: 'Estate',
    styles: {
      default: {
        document: {
          run: { font: 'Calibri', size: 22, color: COLOR.text },
          paragraph: { spacing: { after: 120, line: 276, lineRule: LineRuleType.AUTO } },
        },
        title: {
          run: { size: 44, bold: true, color: COLOR.head },
          paragraph: { spacing: { before: 60, after: 160, line: 252, lineRule: LineRuleType.AUTO } },
        },
        heading1: {
          run: { size: 30, bold: true, color: COLOR.head },
          paragraph: { spacing: { before: 360, after: 120 }, keepNext: true },
        },
        heading2: {
          run: { size: 26, bold: true, color: COLOR.head },
          paragraph: { spacing: { before: 280, after: 100 }, keepNext: true },
        },
        heading3: {
          run: { size: 23, bold: true, color: COLOR.head },
          paragraph: { spacing: { before: 220, after: 80 }, keepNext: true },
        },
        heading4: {
          run: { size: 22, bold: true, italics: true, color: COLOR.head },
          paragraph: { spacing: { before: 200, after: 80 }, keepNext: true },
        },
        heading5: deepest,
        heading6: deepest,
      },
    },
    numbering: { config: lists.config },
    sections: [
      {
        properties: {
          page: {
            size: { width: 11_906, height: 16_838 },
            margin: { top: 1_300, bottom: 1_300, left: 1_418, right: 1_418 },
          },
        },
        footers: { default: footer(paper) },
        children: body,
      },
    ],
  });
  return await Packer.toBuffer(document);
}

/** A document whose own texts can be written; those of its blocks are cleaned with their lines. */
const withPrintableTexts = ({ kind, title, notice, footer, ...paper }: PrintDocument): PrintDocument => ({
  ...paper,
  kind: printable(kind),
  title: printable(title),
  notice: notice && printable(notice),
  footer: printable(footer),
});

function footer({ footer: text }: PrintDocument): Footer {
  return new Footer({
    children: [
      new Paragraph({
        alignment: AlignmentType.CENTER,
        children: [
          new TextRun({
            size: 16,
            color: COLOR.faint,
            children: [`${text}   ·   `, PageNumber.CURRENT, ' / ', PageNumber.TOTAL_PAGES],
          }),
        ],
      }),
    ],
  });
}

/** The numberings of a document, one per ordered list. */
interface Lists {
  config: { reference: string; levels: ILevelsOptions[] }[];
  next(start: number): string;
}

function numbering(): Lists {
  const config: Lists['config'] = [];
  return {
    config,
    next(start) {
      const reference = `numbers-${config.length}`;
      const levels = Array.from({ length: LEVELS }, (_, level) => ({
        level,
        format: LevelFormat.DECIMAL,
        text: `%${level + 1}.`,
        alignment: AlignmentType.START,
        start,
        style: { paragraph: { indent: { left: 500 * (level + 1), hanging: 360 } } },
      }));
      config.push({ reference, levels });
      return reference;
    },
  };
}

function blockOf(
  block: Block,
  lists: Lists,
  depth: number,
  more: IParagraphOptions = {},
): (Paragraph | Table)[] {
  switch (block.kind) {
    case 'heading': {
      const heading = HEADINGS[Math.min(block.level, 6) - 1]!;
      return [new Paragraph({ ...more, heading, children: runsOf(block.inlines) })];
    }
    case 'paragraph':
      return [new Paragraph({ ...more, children: runsOf(block.inlines) })];
    case 'code': {
      const children = linesOf(block.text, { font: 'Consolas', size: 19 });
      return [new Paragraph({ ...more, shading: { type: ShadingType.CLEAR, fill: COLOR.fill }, children })];
    }
    case 'quote':
      return block.blocks.flatMap((inner) =>
        blockOf(inner, lists, depth, {
          indent: { left: 400 },
          border: { left: { style: BorderStyle.SINGLE, size: 12, space: 10, color: COLOR.line } },
        }),
      );
    case 'rule': {
      const border = { bottom: { style: BorderStyle.SINGLE, size: 6, space: 1, color: COLOR.line } };
      return [new Paragraph({ border, children: [] })];
    }
    case 'table':
      return [table(block), new Paragraph({ children: [], spacing: { after: 60 } })];
    case 'list': {
      const level = Math.min(depth, LEVELS - 1);
      const reference = block.ordered ? lists.next(block.start) : undefined;
      const mark: IParagraphOptions = reference ? { numbering: { reference, level } } : { bullet: { level } };
      return block.items.flatMap((item) =>
        item.flatMap((inner, n) => {
          if (inner.kind === 'list') return blockOf(inner, lists, depth + 1);
          const own = n === 0 ? mark : { indent: { left: 500 * (level + 1) } };
          return blockOf(inner, lists, depth + 1, { ...own, spacing: { after: 60 } });
        }),
      );
    }
  }
}

function table({ header, rows, align, widths }: TableBlock): Table {
  const { shares, small } = columnsOf(header, rows);
  const columns = shares.length;
  const width = (n: number) => Math.floor(WIDTH * (widths ?? shares)[n]!);
  const side = small ? 50 : 100;
  const line = { style: BorderStyle.SINGLE, size: 4, color: COLOR.line };
  const rowOf = (cells: Cell[], head: boolean) =>
    new TableRow({
      tableHeader: head,
      cantSplit: true,
      children: Array.from({ length: columns }, (_, n) => {
        const inlines = (cells[n] ?? []).map((inline) => (head ? { ...inline, bold: true } : inline));
        return new TableCell({
          width: { size: width(n), type: WidthType.DXA },
          margins: { top: 60, bottom: 60, left: side, right: side },
          ...(head || (widths && n === 0) ? { shading: { type: ShadingType.CLEAR, fill: COLOR.fill } } : {}),
          children: [
            new Paragraph({
              children: runsOf(inlines, small ? SMALL : undefined),
              spacing: { after: 0 },
              ...(align?.[n] ? { alignment: ALIGNMENTS[align[n]] } : {}),
            }),
          ],
        });
      }),
    });
  return new Table({
    width: { size: WIDTH, type: WidthType.DXA },
    columnWidths: Array.from({ length: columns }, (_, n) => width(n)),
    borders: {
      top: line,
      bottom: line,
      left: line,
      right: line,
      insideHorizontal: line,
      insideVertical: line,
    },
    rows: [...(header ? [rowOf(header, true)] : []), ...rows.map((row) => rowOf(row, false))],
  });
}

/** @param size in half points; default: that of the document. */
function runsOf(inlines: Inline[], size?: number): ParagraphChild[] {
  return inlines.flatMap<ParagraphChild>(
    ({ text, link, code, bold, italics, strike, underline, subscript, superscript }) => {
      const style = {
        ...(bold ? { bold } : {}),
        ...(italics ? { italics } : {}),
        ...(strike ? { strike } : {}),
        ...(subscript ? { subScript: true } : {}),
        ...(superscript ? { superScript: true } : {}),
        ...(underline || link ? { underline: {} } : {}),
        ...(link ? { color: '1d5fa8' } : {}),
        ...(size === undefined ? {} : { size }),
        ...(code ? { font: 'Consolas', size: size ?? 19 } : {}),
      };
      const runs = linesOf(text, style);
      return link ? [new ExternalHyperlink({ link, children: runs })] : runs;
    },
  );
}

/** Runs of a text, with a break between its lines. */
function linesOf(text: string, style: object): TextRun[] {
  return printable(text)
    .split('\n')
    .map((line, n) => new TextRun({ ...style, text: line, ...(n > 0 ? { break: 1 } : {}) }));
}

/** Removes characters that XML 1.0 does not allow. */
const printable = (text: string): string => text.replace(NOT_XML, '');

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
