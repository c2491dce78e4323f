import { SaxesParser } from 'saxes';

/** A text of a picture with the box that it takes. */
export interface TextBox {
  text: string;
  title: string | undefined;
  fill: string;
  /** Upright texts have their box turned. */
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Widths of Helvetica in thousandths of the size, from its published metrics. */
const widths: Record<string, number> = Object.fromEntries(
  Object.entries({
    222: "ijl'",
    278: ' !,./:;[\\]ftI|',
    333: '()-`r',
    355: '"',
    500: 'ckvxyzsJ',
    556: '0123456789abdeghnopqu#$_?L€–',
    584: '+<=>~',
    611: 'FTZ',
    667: '&ABEKPSVXY',
    722: 'CDHNRUw',
    778: 'GOQ',
    833: 'mM',
    889: '%',
    944: 'W',
    1000: '…',
    1015: '@',
  }).flatMap(([width, letters]) => [...letters].map((letter) => [letter, Number(width)])),
);

const widthOf = (text: string, size: number) =>
  ([...text].reduce((sum, letter) => sum + (widths[letter] ?? (letter > '\u2e80' ? 1000 : 556)), 0) / 1000) *
  size;

/** Reads a picture as the XML that it must be; gives its texts and the names of its elements and attributes. */
export function readPicture(svg: string): {
  texts: TextBox[];
  elements: Set<string>;
  attributes: Set<string>;
  width: number;
  height: number;
  fills: Set<string>;
} {
  const texts: TextBox[] = [];
  const elements = new Set<string>();
  const attributes = new Set<string>();
  const fills = new Set<string>();
  const path: { name: string; at: Record<string, string>; text: string; title?: string }[] = [];
  const offsets: number[] = [];
  let size = { width: 0, height: 0 };
  const parser = new SaxesParser({ xmlns: false });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes: at }) => {
    elements.add(name);
    for (const key of Object.keys(at)) attributes.add(key);
    path.push({ name, at: at as Record<string, string>, text: '' });
    if (name === 'svg') {
      if (offsets.length === 0) size = { width: Number(at.width), height: Number(at.height) };
      offsets.push((offsets.at(-1) ?? 0) + Number(at.y ?? 0));
    }
    if (at.fill?.startsWith('#') && name !== 'text') fills.add(at.fill);
  });
  parser.on('text', (text) => {
    const top = path.at(-1);
    if (top) top.text += text;
  });
  parser.on('closetag', () => {
    const { name, at, text, title } = path.pop()!;
    if (name === 'svg') offsets.pop();
    if (name === 'title' && path.at(-1)?.name === 'text') path.at(-1)!.title = text;
    if (name === 'text' && text.trim()) texts.push(boxOf(at, text, title, offsets.at(-1) ?? 0));
  });
  parser.write(svg).close();
  return { texts, elements, attributes, fills, ...size };
}

function boxOf(at: Record<string, string>, text: string, title: string | undefined, offset: number): TextBox {
  const size = Number(at['font-size']);
  const width = widthOf(text, size);
  const turned = /rotate\(-90/.test(at.transform ?? '');
  const x = Number(at.x ?? 0);
  const y = Number(at.y ?? 0);
  const along = at['text-anchor'] === 'end' ? -width : at['text-anchor'] === 'middle' ? -width / 2 : 0;
  const across = -size * 0.8;
  const common = { text, title, fill: at.fill ?? '#000000' };
  if (turned) {
    // from bottom to top around its own place
    return {
      ...common,
      x: x + across,
      y: y + offset - along - width,
      width: size,
      height: width,
    };
  }
  return { ...common, x: x + along, y: offset + y + across, width, height: size };
}

/** The circles of a picture, each with its box. */
export function circlesOf(svg: string): TextBox[] {
  const drawn = svg.matchAll(/<circle cx="([^"]*)" cy="([^"]*)" r="([^"]*)" fill="(#[0-9a-f]{6})"/g);
  return [...drawn].map(([, ...all]) => {
    const [x, y, radius] = all.map(Number) as [number, number, number];
    const box = { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
    return { text: 'circle', title: undefined, fill: all[3]!, ...box };
  });
}

/** Pairs of texts whose boxes meet by more than a pixel. */
export function meeting(texts: TextBox[]): string[] {
  const sorted = texts.toSorted((a, b) => a.y - b.y);
  const found: string[] = [];
  for (const [index, one] of sorted.entries()) {
    for (let next = index + 1; next < sorted.length; next += 1) {
      const other = sorted[next]!;
      if (other.y > one.y + one.height - 1) break;
      if (one.x + one.width - 1 > other.x && other.x + other.width - 1 > one.x)
        found.push(`${one.text} | ${other.text}`);
    }
  }
  return found;
}
