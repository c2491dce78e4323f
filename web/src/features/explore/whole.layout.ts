import type { Graph, GraphNode } from './explorer.data.ts';

interface Placed {
  node: GraphNode;
  x: number;
  y: number;
  degree: number;
}

/** The angle between two neighbours on a spiral that fills a disc evenly. */
const GOLDEN = 2.399963;

/**
 * Places all cards: a disc for each type, the largest in the middle, and in each disc what has most relations in its middle.
 * It takes time in proportion to the cards, unlike layouts by forces.
 */
export function placesOf({ nodes, edges }: Graph): Placed[] {
  const degrees = new Map<string, number>();
  for (const { source, target } of edges)
    for (const end of [source, target]) degrees.set(end, (degrees.get(end) ?? 0) + 1);
  const discs = [...Map.groupBy(nodes.values(), ({ type }) => type).values()]
    .map((own) => ({ own, radius: 2 + 1.6 * Math.sqrt(own.length) }))
    .sort((a, b) => b.radius - a.radius);
  const centres: { x: number; y: number; radius: number }[] = [];
  return discs.flatMap(({ own, radius }) => {
    const centre = freeSpot(centres, radius);
    centres.push({ ...centre, radius });
    return own
      .map((node) => ({ node, degree: degrees.get(node.id) ?? 0 }))
      .sort((a, b) => b.degree - a.degree)
      .map(({ node, degree }, at) => {
        const distance = 1.6 * Math.sqrt(at);
        return {
          node,
          degree,
          x: centre.x + Math.cos(at * GOLDEN) * distance,
          y: centre.y + Math.sin(at * GOLDEN) * distance,
        };
      });
  });
}

/** The first place of a spiral where a disc touches no other. */
function freeSpot(
  taken: readonly { x: number; y: number; radius: number }[],
  radius: number,
): { x: number; y: number } {
  for (let step = 0; ; step += 1) {
    const distance = 2 * Math.sqrt(step);
    const spot = { x: Math.cos(step * GOLDEN) * distance * 1.4, y: Math.sin(step * GOLDEN) * distance };
    if (taken.every((one) => Math.hypot(one.x - spot.x, one.y - spot.y) > one.radius + radius + 3))
      return spot;
  }
}
