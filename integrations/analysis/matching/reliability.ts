import { BINS, binOf, bitsAt } from './bits.ts';
import { ALL_WORDS, type FieldKind } from './matching.types.ts';
import type { PairGraph } from './rivals.ts';

/** Pairs with the aspects in which they are compared. */
interface ComparedPairs {
  graph: PairGraph;
  aspects: readonly DescribedAspect[];
}

/** An aspect with the similarities of pairs. */
export interface DescribedAspect {
  name: string;
  kind?: FieldKind;
  isNaming?: boolean;
  similarities: Float32Array;
}

/** Kinds of fields that describe an object without naming it. */
const DESCRIBING: ReadonlySet<FieldKind> = new Set(['choice', 'number', 'date', 'text', 'set', 'version']);
/** Possible reliabilities of a field, and how probable each is before a list is known: in most lists, and in those described anew. */
const RELIABILITIES = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1];
const EXPECTED = {
  most: [0.03, 0.03, 0.04, 0.06, 0.08, 0.12, 0.1, 0.54],
  anew: [0.5, 0.2, 0.1, 0.05, 0.05, 0.04, 0.03, 0.03],
};
/** The share of lists in which people described the same objects anew, so that hardly any field is reliable. */
const ANEW = 0.1;
/** Minimum probability of a pair by its names to be an example of a match. */
const LEAST_NAMED_ALIKE = 0.7;
/** Maximum examples per record: names that many records have are none. */
const MOST_EXAMPLES = 3;
/** Weight of even shares among other pairs, in pairs. */
const BELIEF = 10;

/** Whether an aspect describes objects: a field that does not name them, or all words, which contain the words of such fields. */
export const isDescribing = ({ name, kind, isNaming }: DescribedAspect): boolean =>
  name === ALL_WORDS || (kind !== undefined && (DESCRIBING.has(kind) || (kind === 'name' && !isNaming)));

/**
 * The reliability of each aspect in this list, 0..1: the share of the matches in which it agrees as matches of other lists do; in
 * the other share, such as descriptions by different people, it is as in any other pair. The examples are the pairs that match by
 * their names alone. Few examples are enough if all fields say the same: then the list was described anew.
 */
export function reliabilitiesOf(
  { graph, aspects }: ComparedPairs,
  model: { aspects: { bits: number[]; matches: readonly number[] }[]; priorBits: number },
): number[] {
  const describing = aspects.map(isDescribing);
  if (!describing.includes(true)) return aspects.map(() => 1);
  const counts = new Uint32Array(graph.nodes);
  const examples: { at: number; weight: number }[] = [];
  for (const at of graph.left.keys()) {
    let bits = model.priorBits;
    for (const [index, { similarities }] of aspects.entries())
      if (!describing[index]) bits += bitsAt(model.aspects[index]!.bits, similarities[at]!);
    const weight = 1 / (1 + 2 ** -bits);
    if (weight < LEAST_NAMED_ALIKE) continue;
    examples.push({ at, weight });
    counts[graph.left[at]!]!++;
    counts[graph.right[at]!]!++;
  }
  const alone = examples.filter(
    ({ at }) => counts[graph.left[at]!]! <= MOST_EXAMPLES && counts[graph.right[at]!]! <= MOST_EXAMPLES,
  );
  const likelihoods = aspects.map(({ similarities }, index) =>
    describing[index] ? likelihoodsOf(similarities, model.aspects[index]!.matches, alone) : undefined,
  );
  const bits = (expected: readonly number[]) =>
    likelihoods.reduce((sum, one) => sum + (one ? Math.log2(weightsOf(one, expected).sum) : 0), 0);
  const anew = 1 / (1 + ((1 - ANEW) / ANEW) * 2 ** (bits(EXPECTED.most) - bits(EXPECTED.anew)));
  return likelihoods.map((one) =>
    one ? anew * weightsOf(one, EXPECTED.anew).mean + (1 - anew) * weightsOf(one, EXPECTED.most).mean : 1,
  );
}

/** The probability of what was found, and the expected reliability, by how probable each reliability was before. */
function weightsOf(likelihoods: readonly number[], expected: readonly number[]) {
  const weights = likelihoods.map((likelihood, at) => likelihood * expected[at]!);
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const mean = weights.reduce((all, weight, at) => all + (weight / sum) * RELIABILITIES[at]!, 0);
  return { sum, mean };
}

/** The likelihood of each reliability relative to the most likely one, given the shares of reliable matches by bin and examples. */
function likelihoodsOf(
  similarities: Float32Array,
  matches: readonly number[],
  examples: readonly { at: number; weight: number }[],
): number[] {
  const others = Array<number>(BINS).fill(BELIEF / BINS);
  let count = BELIEF;
  for (const similarity of similarities) {
    if (Number.isNaN(similarity)) continue;
    others[binOf(similarity)]!++;
    count++;
  }
  const likelihoods = RELIABILITIES.map((part) =>
    examples.reduce((sum, example) => {
      const similarity = similarities[example.at]!;
      if (Number.isNaN(similarity)) return sum;
      const bin = binOf(similarity);
      return sum + example.weight * Math.log2((part * matches[bin]! * count) / others[bin]! + 1 - part);
    }, 0),
  );
  const most = Math.max(...likelihoods);
  return likelihoods.map((likelihood) => 2 ** (likelihood - most));
}

/** The model with the bits of each aspect reduced to its reliability. */
export function withReliabilities<T extends { aspects: { aspect: string; bits: number[] }[] }>(
  model: T,
  reliabilities: readonly number[],
): T {
  return {
    ...model,
    aspects: model.aspects.map(({ aspect, bits }, index) => ({
      aspect,
      bits: bits.map((bit) => reliableBits(bit, reliabilities[index]!)),
    })),
  };
}

/** The bits of a similarity if in the other share of the matches it is as frequent as among other pairs. */
export const reliableBits = (bits: number, reliability: number): number =>
  Math.log2(reliability * 2 ** bits + 1 - reliability);
