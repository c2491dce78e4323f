import { packNumbers, unpackNumbers } from '../../../platform/pack.ts';
import { release } from '../../../platform/release.ts';
import type { Compared } from './learn.ts';

/**
 * Packs the similarities that are not learned from, which take much memory.
 * @returns what unpacks them, and frees those that were learned from.
 */
export function setAside({ aspects, graph }: Compared, open: Compared): () => void {
  const used = new Set(open.aspects.map(({ similarities }) => similarities));
  const unused = aspects.filter(({ similarities }) => !used.has(similarities));
  const packed = unused.map(({ similarities }) => packNumbers(similarities));
  for (const { similarities } of unused) release(similarities);
  return () => {
    if (open.graph !== graph)
      release(open.graph.left, open.graph.right, ...open.aspects.map(({ similarities }) => similarities));
    for (const [at, aspect] of unused.entries())
      aspect.similarities = unpackNumbers(packed[at]!, Float32Array);
  };
}
