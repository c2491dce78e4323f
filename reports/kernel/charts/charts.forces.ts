/** Steps until the nodes are left where they are. */
const STEPS = 120;

/**
 * Places for the nodes of a graph: all push each other apart, lines pull together (Fruchterman and Reingold, 1991).
 * The same graph gives the same places.
 * @param edges pairs of indexes.
 * @returns x and y of each node, fitted into the size.
 */
export function placeNodes(
  count: number,
  edges: readonly (readonly [number, number])[],
  size: { width: number; height: number },
): [x: number, y: number][] {
  const xs = new Float64Array(count);
  const ys = new Float64Array(count);
  // a spiral of seeds: spread evenly, and no two on one line
  for (let node = 0; node < count; node += 1) {
    const radius = Math.sqrt((node + 0.5) / count) / 2;
    xs[node] = radius * Math.cos(node * 2.399963);
    ys[node] = radius * Math.sin(node * 2.399963);
  }
  const rest = Math.sqrt(1 / Math.max(1, count));
  for (let step = 0; step < STEPS; step += 1) {
    move(xs, ys, edges, rest, 0.1 * (1 - step / STEPS));
  }
  return fitted(xs, ys, size);
}

/** One step: forces of all pairs and of the lines, each node moved no further than `most`. */
function move(
  xs: Float64Array,
  ys: Float64Array,
  edges: readonly (readonly [number, number])[],
  rest: number,
  most: number,
): void {
  const count = xs.length;
  const fx = new Float64Array(count);
  const fy = new Float64Array(count);
  for (let one = 0; one < count; one += 1) {
    for (let other = one + 1; other < count; other += 1) {
      const dx = xs[one]! - xs[other]!;
      const dy = ys[one]! - ys[other]!;
      const push = (rest * rest) / Math.max(1e-6, dx * dx + dy * dy);
      fx[one]! += dx * push;
      fy[one]! += dy * push;
      fx[other]! -= dx * push;
      fy[other]! -= dy * push;
    }
    // keeps parts that are not joined near each other: as strong as all push apart at the edge of a full picture
    fx[one]! -= xs[one]!;
    fy[one]! -= ys[one]!;
  }
  for (const [one, other] of edges) {
    const dx = xs[one]! - xs[other]!;
    const dy = ys[one]! - ys[other]!;
    const pull = Math.hypot(dx, dy) / rest;
    fx[one]! -= dx * pull;
    fy[one]! -= dy * pull;
    fx[other]! += dx * pull;
    fy[other]! += dy * pull;
  }
  for (let node = 0; node < count; node += 1) {
    const force = Math.max(1e-9, Math.hypot(fx[node]!, fy[node]!));
    const by = Math.min(force, most) / force;
    xs[node]! += fx[node]! * by;
    ys[node]! += fy[node]! * by;
  }
}

function fitted(
  xs: Float64Array,
  ys: Float64Array,
  size: { width: number; height: number },
): [number, number][] {
  const spread = (values: Float64Array, room: number): number[] => {
    const least = values.reduce((min, value) => Math.min(min, value), Infinity);
    const span = values.reduce((max, value) => Math.max(max, value), -Infinity) - least;
    return Array.from(values, (value) => (span > 0 ? ((value - least) / span) * room : room / 2));
  };
  const x = spread(xs, size.width);
  const y = spread(ys, size.height);
  return x.map((value, node) => [value, y[node]!]);
}
