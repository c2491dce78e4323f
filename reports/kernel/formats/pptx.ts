import { buffer } from 'node:stream/consumers';
import { xmlAttribute, xmlText } from '../../../platform/xml.ts';
import { ZipFile } from '../../../platform/zip.ts';
import { plain } from '../charts/charts.text.ts';
import { XML } from './ooxml.package.ts';
import { GROUP, NAMESPACES, presentationParts, SLIDE, type SlidePart } from './pptx.package.ts';

/** A PNG with its size in pixels. */
interface SlidePicture {
  png: Buffer;
  width: number;
  height: number;
  /** What it shows, for readers who do not see it. */
  description: string;
}

/** A table of texts; at most {@link SLIDE_ROWS} rows. */
export interface SlideTable {
  columns: { name: string; right: boolean }[];
  rows: string[][];
}

/** A slide with a title, a line below it, a picture or a table, and a footer. */
export interface Slide {
  title: string;
  line: string;
  content: SlidePicture | SlideTable;
  footer: string;
}

/** Colours as `#rrggbb`, and the language of the texts. */
export interface SlideLook {
  language: string;
  background: string;
  text: string;
  faint: string;
  line: string;
  fill: string;
}

interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Rows of a table that fit on a slide, without the header. */
export const SLIDE_ROWS = 18;

const MARGIN = 457_200;
const ROOM = SLIDE.width - 2 * MARGIN;
const BODY: Place = { x: MARGIN, y: 1_280_160, width: ROOM, height: 5_029_200 };
/** In hundredths of a point. */
const SIZES = { title: 2_400, line: 1_200, cell: 1_000, footer: 1_000 };
/** The width of an average character of a cell and the cell's margins in EMU, and by how much bold characters are wider. */
const CELL = { character: 66_000, margin: 100_000, bold: 1.1 };
const MOST = { title: 150, line: 220 };

/** Writes slides as a presentation (PPTX). All texts are plain runs, without fields, links and formulas. */
export async function writePptx(slides: readonly Slide[], look: SlideLook): Promise<Buffer> {
  const zip = new ZipFile();
  const parts = presentationParts(
    slides.map((slide) => slidePart(slide, look)),
    look.language,
  );
  for (const [name, content] of parts)
    zip.addBuffer(Buffer.from(content), name, { compress: !name.endsWith('.png') });
  zip.end();
  return await buffer(zip.outputStream);
}

function slidePart({ title, line, content, footer }: Slide, look: SlideLook): SlidePart {
  const { background, text, faint, language } = look;
  const drawn = 'png' in content ? picture(4, content) : table(4, content, look);
  const shapes = [
    textBox(2, 'Title', { x: MARGIN, y: 274_320, width: ROOM, height: 548_640 }, shorten(title, MOST.title), {
      language,
      size: SIZES.title,
      color: text,
      isTitle: true,
    }),
    textBox(
      3,
      'Parameters',
      { x: MARGIN, y: 822_960, width: ROOM, height: 365_760 },
      shorten(line, MOST.line),
      {
        language,
        size: SIZES.line,
        color: faint,
      },
    ),
    drawn,
    textBox(5, 'Footer', { x: MARGIN, y: 6_400_800, width: ROOM, height: 274_320 }, footer, {
      language,
      size: SIZES.footer,
      color: faint,
    }),
  ];
  return {
    xml: `${XML}<p:sld ${NAMESPACES}><p:cSld><p:bg><p:bgPr>${solid(background)}<a:effectLst/></p:bgPr></p:bg><p:spTree>${GROUP}${shapes.join('')}</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>`,
    pictures: 'png' in content ? [content.png] : [],
  };
}

const solid = (color: string): string =>
  `<a:solidFill><a:srgbClr val="${color.slice(1).toUpperCase()}"/></a:solidFill>`;

const transform = (tag: 'a' | 'p', { x, y, width, height }: Place): string =>
  `<${tag}:xfrm><a:off x="${x}" y="${y}"/><a:ext cx="${width}" cy="${height}"/></${tag}:xfrm>`;

function shorten(text: string, most: number): string {
  const line = plain(text);
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line;
}

interface RunStyle {
  language: string;
  size: number;
  color: string;
  bold?: boolean;
  right?: boolean;
}

const paragraph = (
  text: string,
  { language, size, color, bold = false, right = false }: RunStyle,
): string => {
  const style = `sz="${size}" b="${bold ? 1 : 0}"`;
  const alignment = `<a:pPr algn="${right ? 'r' : 'l'}"/>`;
  if (text === '') return `<a:p>${alignment}<a:endParaRPr lang="${language}" ${style}/></a:p>`;
  return `<a:p>${alignment}<a:r><a:rPr lang="${language}" ${style}>${solid(color)}</a:rPr><a:t>${xmlText(text)}</a:t></a:r></a:p>`;
};

function textBox(
  id: number,
  name: string,
  place: Place,
  text: string,
  { isTitle = false, ...style }: RunStyle & { isTitle?: boolean },
): string {
  const kind = isTitle
    ? '<p:cNvSpPr/><p:nvPr><p:ph type="title"/></p:nvPr>'
    : '<p:cNvSpPr txBox="1"/><p:nvPr/>';
  return `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="${name}"/>${kind}</p:nvSpPr><p:spPr>${transform('a', place)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr wrap="square" lIns="0" tIns="0" rIns="0" bIns="0" anchor="ctr"><a:normAutofit/></a:bodyPr><a:lstStyle/>${paragraph(text, { ...style, bold: isTitle })}</p:txBody></p:sp>`;
}

/** By how much a picture is scaled to be as large as fits. */
const scaleOf = ({ width, height }: { width: number; height: number }): number =>
  Math.min(BODY.width / width, BODY.height / height);

/** The share of the body of a slide that a picture fills. */
export const filledShare = (picture: { width: number; height: number }): number =>
  (scaleOf(picture) ** 2 * picture.width * picture.height) / (BODY.width * BODY.height);

/** A picture as large as fits, at the top of the body. */
function picture(id: number, { width, height, description }: SlidePicture): string {
  const scale = scaleOf({ width, height });
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  const place = { x: BODY.x + Math.round((BODY.width - wide) / 2), y: BODY.y, width: wide, height: high };
  return `<p:pic><p:nvPicPr><p:cNvPr id="${id}" name="Picture" descr="${xmlAttribute(plain(description))}"/><p:cNvPicPr><a:picLocks noChangeAspect="1"/></p:cNvPicPr><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="rId2"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr>${transform('a', place)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>`;
}

/** The number of characters that each column has room for: headers first, then cells, and what is left in equal parts. */
function roomOf({ columns, rows }: SlideTable): number[] {
  const most = Math.floor((BODY.width - columns.length * CELL.margin) / CELL.character);
  const heads = columns.map(({ name }) => Math.ceil(name.length * CELL.bold));
  const longest = columns.map((_, n) => Math.max(heads[n]!, ...rows.map((row) => row[n]?.length ?? 0)));
  const first = shared(heads, most);
  const left = most - sum(first);
  const more = shared(
    longest.map((length, n) => length - first[n]!),
    left,
  );
  const rest = Math.floor((left - sum(more)) / columns.length);
  return columns.map((_, n) => first[n]! + more[n]! + rest);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** What each gets of a total: what it wants, or an equal part of what those who want less leave. */
function shared(wanted: readonly number[], total: number): number[] {
  const given = wanted.map(() => 0);
  let left = total;
  const order = [...wanted.keys()].sort((a, b) => wanted[a]! - wanted[b]!);
  for (const [at, n] of order.entries()) {
    given[n] = Math.max(0, Math.min(wanted[n]!, Math.floor(left / (order.length - at))));
    left -= given[n]!;
  }
  return given;
}

/** A table whose texts take one line each. */
function table(id: number, content: SlideTable, { text, line, fill, language }: SlideLook): string {
  const { columns, rows } = content;
  const room = roomOf(content);
  const widths = room.map((characters) => characters * CELL.character + CELL.margin);
  const height = Math.floor(BODY.height / (SLIDE_ROWS + 1));
  const border = `<a:lnB w="6350">${solid(line)}</a:lnB>`;
  const cell = (value: string, n: number, isHead: boolean) =>
    `<a:tc><a:txBody><a:bodyPr/><a:lstStyle/>${paragraph(
      shorten(value, isHead ? Math.floor(room[n]! / CELL.bold) : room[n]!),
      {
        language,
        size: SIZES.cell,
        color: text,
        bold: isHead,
        right: columns[n]!.right,
      },
    )}</a:txBody><a:tcPr marL="50000" marR="50000" marT="20000" marB="20000" anchor="ctr">${border}${isHead ? solid(fill) : '<a:noFill/>'}</a:tcPr></a:tc>`;
  const row = (values: string[], isHead = false) =>
    `<a:tr h="${height}">${columns.map((_, n) => cell(values[n] ?? '', n, isHead)).join('')}</a:tr>`;
  const place = { ...BODY, width: sum(widths), height: height * (rows.length + 1) };
  return `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="${id}" name="Table"/><p:cNvGraphicFramePr><a:graphicFrameLocks noGrp="1"/></p:cNvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr>${transform('p', place)}<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblPr firstRow="1"/><a:tblGrid>${widths
    .map((width) => `<a:gridCol w="${width}"/>`)
    .join('')}</a:tblGrid>${row(
    columns.map(({ name }) => name),
    true,
  )}${rows.map((values) => row(values)).join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
}
