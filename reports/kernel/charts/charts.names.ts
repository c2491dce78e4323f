import { FONT_SIZE } from './charts.theme.ts';

/** Where a name stands beside its mark. */
export type Side = 'top' | 'bottom' | 'left' | 'right';

/** A round mark and the width of its name, in pixels. */
export interface Mark {
  x: number;
  y: number;
  radius: number;
  /** Of the name. */
  width: number;
}

/** Where a name goes. */
export interface NamePlace {
  side: Side;
  /** How far it is moved to the right, to stay in the room, in pixels. */
  shift: number;
}

/** A part of the picture, in pixels. */
export interface Room {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Between a mark and its name, in pixels. */
export const NAME_GAP = 3;
const LINE = FONT_SIZE + 2;

/**
 * Places names beside their marks so that none meets another name or a mark, or leaves the room; the first marks choose
 * first. Of a name that finds no place there is none.
 * @param sides in the order in which they are tried.
 * @param most how many names there are to be.
 */
export function placeNames(
  marks: readonly Mark[],
  room: Room,
  sides: readonly Side[],
  most = Infinity,
): (NamePlace | undefined)[] {
  const taken: Room[] = [];
  const meets = (box: Room) =>
    taken.some((other) => meet(box, other)) || marks.some((mark) => meet(box, boxOf(mark)));
  return marks.map((mark) => {
    if (taken.length >= most) return undefined;
    for (const side of sides) {
      const box = nameBox(mark, side);
      const shift = side === 'top' || side === 'bottom' ? shiftInto(box, room) : 0;
      const moved = { ...box, left: box.left + shift, right: box.right + shift };
      if (!within(moved, room) || meets(moved)) continue;
      taken.push(moved);
      return { side, shift };
    }
    return undefined;
  });
}

function nameBox({ x, y, radius, width }: Mark, side: Side): Room {
  const away = radius + NAME_GAP;
  if (side === 'left' || side === 'right') {
    const left = side === 'left' ? x - away - width : x + away;
    return { left, top: y - LINE / 2, right: left + width, bottom: y + LINE / 2 };
  }
  const top = side === 'top' ? y - away - LINE : y + away;
  return { left: x - width / 2, top, right: x + width / 2, bottom: top + LINE };
}

/** How far to the right brings a box into the room, as far as it stays above or below the middle of its mark. */
function shiftInto(box: Room, room: Room): number {
  const most = (box.right - box.left) / 2;
  const wanted = Math.max(0, room.left - box.left) - Math.max(0, box.right - room.right);
  return Math.abs(wanted) <= most ? wanted : 0;
}

const boxOf = ({ x, y, radius }: Mark): Room => ({
  left: x - radius,
  top: y - radius,
  right: x + radius,
  bottom: y + radius,
});

const meet = (one: Room, other: Room): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

const within = (box: Room, room: Room): boolean =>
  box.left >= room.left && box.right <= room.right && box.top >= room.top && box.bottom <= room.bottom;
