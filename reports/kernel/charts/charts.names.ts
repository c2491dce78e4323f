import { LABEL } from './charts.parts.ts';

/** The side of a mark on which its name is placed. */
export type Side = 'top' | 'bottom' | 'left' | 'right';

/** A circle and the width of its name, in pixels. */
export interface Mark {
  x: number;
  y: number;
  radius: number;
  /** Width of the name. */
  width: number;
}

/** The position of a name. */
export interface NamePosition {
  side: Side;
  /** Horizontal shift in pixels to stay within the bounds. */
  shift: number;
}

/** A rectangle in the chart, in pixels. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Distance between a mark and its name, in pixels. */
export const NAME_GAP = 3;
const LINE = LABEL + 2;

/**
 * Places names next to their marks, without overlaps with other names and marks and within the bounds; earlier marks have
 * priority. A name without free space is undefined.
 * @param sides in the order in which they are tried.
 * @param most maximum number of names.
 */
export function placeNames(
  marks: readonly Mark[],
  bounds: Box,
  sides: readonly Side[],
  most = Infinity,
): (NamePosition | undefined)[] {
  const taken: Box[] = [];
  const overlapsAny = (box: Box) =>
    taken.some((other) => overlaps(box, other)) || marks.some((mark) => overlaps(box, boxOf(mark)));
  return marks.map((mark) => {
    if (taken.length >= most) return undefined;
    for (const side of sides) {
      const box = nameBox(mark, side);
      const shift = side === 'top' || side === 'bottom' ? shiftInto(box, bounds) : 0;
      const moved = { ...box, left: box.left + shift, right: box.right + shift };
      if (!isWithin(moved, bounds) || overlapsAny(moved)) continue;
      taken.push(moved);
      return { side, shift };
    }
    return undefined;
  });
}

function nameBox({ x, y, radius, width }: Mark, side: Side): Box {
  const away = radius + NAME_GAP;
  if (side === 'left' || side === 'right') {
    const left = side === 'left' ? x - away - width : x + away;
    return { left, top: y - LINE / 2, right: left + width, bottom: y + LINE / 2 };
  }
  const top = side === 'top' ? y - away - LINE : y + away;
  return { left: x - width / 2, top, right: x + width / 2, bottom: top + LINE };
}

/** The horizontal shift that moves a box into the bounds; at most half its width. */
function shiftInto(box: Box, bounds: Box): number {
  const most = (box.right - box.left) / 2;
  const wanted = Math.max(0, bounds.left - box.left) - Math.max(0, box.right - bounds.right);
  return Math.abs(wanted) <= most ? wanted : 0;
}

const boxOf = ({ x, y, radius }: Mark): Box => ({
  left: x - radius,
  top: y - radius,
  right: x + radius,
  bottom: y + radius,
});

const overlaps = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

const isWithin = (box: Box, bounds: Box): boolean =>
  box.left >= bounds.left &&
  box.right <= bounds.right &&
  box.top >= bounds.top &&
  box.bottom <= bounds.bottom;
