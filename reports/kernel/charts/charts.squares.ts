/** A rectangle, in pixels. */
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * Divides an area among values above 0 by a squarified treemap (Bruls, Huizing, van Wijk), in their order, into pieces that are
 * `wider` than high, to fit names.
 */
export function divideArea(values: readonly number[], area: Area, wider: number): Area[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const pieces: Area[] = [];
  let free: Area = { ...area, width: area.width / wider };
  const unit = total > 0 ? (free.width * free.height) / total : 0;
  for (let from = 0; from < values.length; ) {
    const side = Math.min(free.width, free.height);
    let to = from + 1;
    let sum = values[from]! * unit;
    const least = { value: sum, most: sum };
    let worst = worstRatio(sum, least, side);
    for (; to < values.length; to += 1) {
      const next = values[to]! * unit;
      const both = { value: Math.min(least.value, next), most: Math.max(least.most, next) };
      const ratio = worstRatio(sum + next, both, side);
      if (ratio > worst) break;
      sum += next;
      Object.assign(least, both);
      worst = ratio;
    }
    const isTall = free.width >= free.height;
    const depth = side > 0 ? sum / side : 0;
    let at = isTall ? free.y : free.x;
    for (let n = from; n < to; n += 1) {
      const length = depth > 0 ? (values[n]! * unit) / depth : 0;
      pieces.push(
        isTall
          ? { x: free.x, y: at, width: depth, height: length }
          : { x: at, y: free.y, width: length, height: depth },
      );
      at += length;
    }
    free = isTall
      ? { ...free, x: free.x + depth, width: Math.max(0, free.width - depth) }
      : { ...free, y: free.y + depth, height: Math.max(0, free.height - depth) };
    from = to;
  }
  return pieces.map(({ x, width, ...piece }) => ({
    ...piece,
    x: area.x + (x - area.x) * wider,
    width: width * wider,
  }));
}

/** The worst ratio of sides in a row of pieces. */
const worstRatio = (sum: number, { value, most }: { value: number; most: number }, side: number): number =>
  Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * value));
