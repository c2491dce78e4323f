/** Letters that are as wide as they are high. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/;
const LINE = 1.2;

/** A text in XML without characters that XML cannot contain. */
const escapeXml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be left out
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** About how wide a text is, in pixels. */
const widthOf = (text: string, size: number): number =>
  [...text].reduce((sum, letter) => sum + (WIDE.test(letter) ? 1 : 0.56) * size, 0);

/** The words of a text in lines of a width; too many lines, and words that are too long, are cut with an ellipsis. */
export function wrapText(text: string, width: number, most: number, size: number): string[] {
  // of a text that could never fit only the beginning is gone through
  const words = text.slice(0, 2_000).toWellFormed().split(/\s+/).filter(Boolean);
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && widthOf(`${line} ${word}`, size) <= width)
      lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  const shown = lines.slice(0, Math.max(1, most));
  if (lines.length > shown.length) shown[shown.length - 1] += ' …';
  return shown.map((line) => {
    if (widthOf(line, size) <= width) return line;
    const letters = [...line];
    while (letters.length > 1 && widthOf(letters.join(''), size) + size > width) letters.pop();
    return `${letters.join('').trimEnd()}…`;
  });
}

export interface TextPlace {
  /** The middle of the text. */
  x: number;
  y: number;
  width: number;
  height: number;
  size?: number;
  bold?: boolean;
  /** Read from below. */
  upright?: boolean;
  left?: boolean;
  /** Stays legible on lines. */
  halo?: boolean;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** A text in the middle of a place, in as many lines as it has room for. */
export function textAt(text: string, place: TextPlace): string {
  const { x, y, size = 11 } = place;
  const [width, height] = place.upright ? [place.height, place.width] : [place.width, place.height];
  const lines = wrapText(text, width, Math.floor(height / (size * LINE)), size);
  if (lines.length === 0) return '';
  const start = y - ((lines.length - 1) * size * LINE) / 2 + size * 0.35;
  const spans = lines.map(
    (line, n) =>
      `<tspan x="${round(place.left ? x - width / 2 : x)}" y="${round(start + n * size * LINE)}">${escapeXml(line)}</tspan>`,
  );
  const turned = place.upright ? ` transform="rotate(-90 ${round(x)} ${round(y)})"` : '';
  const weight = place.bold ? ' font-weight="bold"' : '';
  const anchor = place.left ? ' text-anchor="start"' : '';
  const halo = place.halo ? ' stroke="#ffffff" stroke-width="3" paint-order="stroke"' : '';
  return `<text font-size="${size}"${weight}${anchor}${halo}${turned}>${spans.join('')}</text>`;
}
