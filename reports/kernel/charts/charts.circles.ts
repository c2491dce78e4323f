import { fillOf } from './charts.look.ts';
import type { Look, Mark } from './charts.marks.ts';
import { NAME_GAP, type NamePosition } from './charts.names.ts';
import { formatValue } from './charts.numbers.ts';
import { LABEL, label, labelAt } from './charts.parts.ts';
import type { BubblesChart, Paint } from './charts.types.ts';

/** Maximum width of a name, in pixels. */
export const NAME_WIDTH = 150;

/** The paint of an item. */
export const paintOf = ({ groups }: BubblesChart, group: string | undefined): Paint =>
  groups === undefined ? 'accent' : (groups.find(({ name }) => name === group)?.paint ?? 'others');

/** Radius by size: the area is proportional to it. */
export function radiusOf(size: number | undefined, largest: number, most: number): number {
  const least = Math.min(4, most * 0.4);
  if (size === undefined || largest <= 0) return least;
  return Math.max(least, Math.sqrt(Math.max(0, size) / largest) * most);
}

/** A circle with its item. */
export interface PlacedCircle {
  item: BubblesChart['items'][number];
  x: number;
  y: number;
  radius: number;
}

/** The circle of an item; hollow if its size is unknown. */
export function circleMark(chart: BubblesChart, look: Look, { item, x, y, radius }: PlacedCircle): Mark {
  const fill = fillOf(paintOf(chart, item.group), look);
  const ref = item.id;
  const size =
    item.size === undefined || !chart.size
      ? ''
      : `: ${formatValue(item.size, chart.size.unit, look.workspace)}`;
  const title = `${item.name}${size}${item.group === undefined ? '' : `, ${item.group}`}`;
  if (chart.size && item.size === undefined)
    return { kind: 'circle', x, y, radius, fill: look.scheme.panel, stroke: fill, title, ref };
  return { kind: 'circle', x, y, radius, fill, stroke: look.scheme.panel, title, ref };
}

/** The name beside a circle. @param room its maximum width in pixels. */
export function nameMark(
  look: Look,
  { item, x, y, radius }: PlacedCircle,
  place: NamePosition | undefined,
  room = NAME_WIDTH,
): Mark[] {
  if (!place) return [];
  const away = radius + NAME_GAP;
  const halo = look.scheme.panel;
  if (place.side === 'left') return [labelAt(look, x - away, y, item.name, { anchor: 'end', room, halo })];
  if (place.side === 'right') return [labelAt(look, x + away, y, item.name, { room, halo })];
  const baseline = place.side === 'top' ? y - away - 2 : y + away + LABEL - 2;
  return [label(look, x + place.shift, baseline, item.name, { anchor: 'middle', room, halo })];
}
