/** A part of a picture, in pixels. */
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * Divides an area among values in their order, in pieces as square as they can be (Bruls, Huizing and van Wijk,
 * "Squarified Treemaps", 2000); largest first, it does so best.
 * @param values above 0.
 * @returns the piece of each value.
 */
export function divideArea(values: readonly number[], area: Area): Area[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const scale = total > 0 ? (area.width * area.height) / total : 0;
  const sizes = values.map((value) => value * scale);
  const pieces: Area[] = [];
  let left = area;
  let from = 0;
  while (from < sizes.length) {
    const side = Math.min(left.width, left.height);
    let to = from + 1;
    while (to < sizes.length && worst(sizes, from, to + 1, side) <= worst(sizes, from, to, side)) to += 1;
    left = layRow(sizes.slice(from, to), left, pieces);
    from = to;
  }
  return pieces;
}

/** How far the least square piece of a row is from a square: 1 or more. */
function worst(sizes: readonly number[], from: number, to: number, side: number): number {
  let sum = 0;
  let least = Infinity;
  let most = 0;
  for (let at = from; at < to; at += 1) {
    sum += sizes[at]!;
    least = Math.min(least, sizes[at]!);
    most = Math.max(most, sizes[at]!);
  }
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}

/** Lays a row along the shorter side. @returns what is left of the area. */
function layRow(sizes: readonly number[], area: Area, pieces: Area[]): Area {
  const sum = sizes.reduce((total, size) => total + size, 0);
  const upright = area.width >= area.height;
  const side = upright ? area.height : area.width;
  const depth = side > 0 ? sum / side : 0;
  let along = 0;
  for (const size of sizes) {
    const length = depth > 0 ? size / depth : 0;
    pieces.push(
      upright
        ? { x: area.x, y: area.y + along, width: depth, height: length }
        : { x: area.x + along, y: area.y, width: length, height: depth },
    );
    along += length;
  }
  return upright
    ? { ...area, x: area.x + depth, width: area.width - depth }
    : { ...area, y: area.y + depth, height: area.height - depth };
}
