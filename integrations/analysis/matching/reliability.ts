import { BINS, binOf, bitsAt } from './bits.ts';
import { ALL_WORDS, type FieldKind } from './matching.types.ts';
import type { PairGraph } from './rivals.ts';

/** Pairs with the aspects in which they are compared. */
interface ComparedPairs {
  graph: PairGraph;
  aspects: readonly { name: string; kind?: FieldKind; similarities: Float32Array }[];
}

/** Kinds of fields that describe an object without naming it. */
const DESCRIBING: ReadonlySet<FieldKind> = new Set(['choice', 'number', 'date', 'text', 'set', 'version']);
/** Possible reliabilities of a field, and how probable each is before a list is known. */
const RELIABILITIES = [0, 0.25, 0.5, 0.75, 1];
const EXPECTED = [0.1, 0.1, 0.15, 0.2, 0.45];
/** Minimum probability of a pair by its names to be an example of a match. */
const LEAST_NAMED_ALIKE = 0.8;
/** Maximum examples per record: names that many records have are none. */
const MOST_EXAMPLES = 3;

/**
 * How far the bits of each aspect apply to this list, 0..1: in some lists the descriptive fields of matches agree no more often
 * than those of other records. The examples are the pairs that match by their names alone.
 */
export function reliabilitiesOf(
  { graph, aspects }: ComparedPairs,
  model: { aspects: { bits: number[] }[]; priorBits: number },
): number[] {
  const isDescribing = aspects.map(({ kind }) => kind !== undefined && DESCRIBING.has(kind));
  if (!isDescribing.includes(true)) return aspects.map(() => 1);
  const counts = new Uint32Array(graph.nodes);
  const examples: { at: number; weight: number }[] = [];
  for (const at of graph.left.keys()) {
    let bits = model.priorBits;
    for (const [index, { name, similarities }] of aspects.entries())
      if (!isDescribing[index] && name !== ALL_WORDS)
        bits += bitsAt(model.aspects[index]!.bits, similarities[at]!);
    const weight = 1 / (1 + 2 ** -bits);
    if (weight < LEAST_NAMED_ALIKE) continue;
    examples.push({ at, weight });
    counts[graph.left[at]!]!++;
    counts[graph.right[at]!]!++;
  }
  const alone = examples.filter(
    ({ at }) => counts[graph.left[at]!]! <= MOST_EXAMPLES && counts[graph.right[at]!]! <= MOST_EXAMPLES,
  );
  return aspects.map(({ similarities }, index) =>
    isDescribing[index] ? reliability(similarities, model.aspects[index]!.bits, alone) : 1,
  );
}

function reliability(
  similarities: Float32Array,
  bits: readonly number[],
  examples: readonly { at: number; weight: number }[],
): number {
  const shares = Array<number>(BINS).fill(1 / BINS);
  let count = 1;
  for (const similarity of similarities) {
    if (Number.isNaN(similarity)) continue;
    shares[binOf(similarity)]!++;
    count++;
  }
  const likelihoods = RELIABILITIES.map((part, at) => {
    const norm = Math.log2(
      shares.reduce((sum, share, bin) => sum + (share / count) * 2 ** (part * bits[bin]!), 0),
    );
    return examples.reduce((sum, example) => {
      const similarity = similarities[example.at]!;
      return Number.isNaN(similarity) ? sum : sum + example.weight * (part * bits[binOf(similarity)]! - norm);
    }, Math.log2(EXPECTED[at]!));
  });
  const most = Math.max(...likelihoods);
  const weights = likelihoods.map((likelihood) => 2 ** (likelihood - most));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Math.min(1, meanOf(weights.map((weight) => weight / total)) / meanOf(EXPECTED));
}

const meanOf = (shares: readonly number[]): number =>
  shares.reduce((sum, share, at) => sum + share * RELIABILITIES[at]!, 0);

/** The model with the bits of each aspect reduced to its reliability. */
export function withReliabilities<T extends { aspects: { aspect: string; bits: number[] }[] }>(
  model: T,
  reliabilities: readonly number[],
): T {
  return {
    ...model,
    aspects: model.aspects.map(({ aspect, bits }, index) => ({
      aspect,
      bits: bits.map((bit) => bit * reliabilities[index]!),
    })),
  };
}
