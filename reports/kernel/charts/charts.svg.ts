import { type Mark, type Picture, px, type RectMark, type TextMark } from './charts.marks.ts';
import { plain } from './charts.text.ts';
import { FONT } from './charts.tokens.ts';

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => entities[letter]!);

/** A user's text, safe in XML. */
const written = (text: string): string => escaped(plain(text));

/**
 * A picture as a self-contained SVG 1.1 document without scripts, styles and references to elsewhere.
 * @param background colour of the surface.
 */
export function svgOf(
  { width, height, marks, description }: Picture,
  title: string,
  background: string,
): string {
  const patterns = [...new Set(marks.flatMap((mark) => ('hatch' in mark && mark.hatch ? [mark.hatch] : [])))];
  const name = written(title);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${px(width)}" height="${px(height)}" viewBox="0 0 ${px(width)} ${px(height)}" role="img" aria-label="${name}" font-family="${escaped(FONT)}">
<title>${name}</title>
<desc>${written(description)}</desc>
${patterns.length > 0 ? `<defs>${patterns.map(patternOf).join('')}</defs>\n` : ''}<rect width="${px(width)}" height="${px(height)}" fill="${background}"/>
${marks.map(elementOf).join('\n')}
</svg>
`;
}

const patternId = (color: string): string => `hatch-${color.slice(1)}`;

const patternOf = (color: string): string =>
  `<pattern id="${patternId(color)}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="1.2" height="6" fill="${color}"/></pattern>`;

function elementOf(mark: Mark): string {
  switch (mark.kind) {
    case 'text':
      return textElement(mark);
    case 'rect':
      return rectElement(mark);
    case 'circle':
      return closed(
        'circle',
        `cx="${px(mark.x)}" cy="${px(mark.y)}" r="${px(mark.radius)}" fill="${mark.fill}"${stroke(mark.stroke)}`,
        mark.title,
      );
    case 'path':
      return closed(
        'path',
        `d="${mark.d}" fill="${mark.fill ?? 'none'}"${stroke(mark.stroke, mark.width, mark.dashed)}`,
        mark.title,
      );
  }
}

const closed = (name: string, attributes: string, title: string | undefined): string =>
  title === undefined
    ? `<${name} ${attributes}/>`
    : `<${name} ${attributes}><title>${written(title)}</title></${name}>`;

const stroke = (color: string | undefined, width = 1, dashed = false): string =>
  color === undefined
    ? ''
    : ` stroke="${color}"${width === 1 ? '' : ` stroke-width="${width}"`}${dashed ? ' stroke-dasharray="4 3"' : ''}`;

function rectElement({
  x,
  y,
  width,
  height,
  fill,
  stroke: line,
  radius,
  hatch,
  dashed,
  title,
}: RectMark): string {
  const shape = `x="${px(x)}" y="${px(y)}" width="${px(Math.max(0, width))}" height="${px(Math.max(0, height))}"${radius ? ` rx="${radius}"` : ''}`;
  const plainRect = closed('rect', `${shape} fill="${fill}"${stroke(line, 1, dashed)}`, title);
  return hatch ? `${plainRect}<rect ${shape} fill="url(#${patternId(hatch)})"/>` : plainRect;
}

/** The next weight that fonts without variations have. */
const weightOf = (weight: number): number => Math.floor(weight / 100) * 100;

function textElement({ x, y, text, size, fill, weight, anchor, turned, whole, halo }: TextMark): string {
  const attributes = [
    `x="${px(x)}" y="${px(y)}" font-size="${size}" fill="${fill}"`,
    weight && weightOf(weight) !== 400 ? ` font-weight="${weightOf(weight)}"` : '',
    anchor && anchor !== 'start' ? ` text-anchor="${anchor}"` : '',
    turned ? ` transform="rotate(-90 ${px(x)} ${px(y)})"` : '',
    halo ? ` stroke="${halo}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"` : '',
  ].join('');
  const full = whole === undefined ? '' : `<title>${written(whole)}</title>`;
  return `<text ${attributes}>${full}${written(text)}</text>`;
}
