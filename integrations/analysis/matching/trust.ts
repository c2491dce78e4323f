// How far the model that was learned from a list counts beside the prior.

/** The mean probability by the prior of what the list's own model takes for matches, without and with full trust in it. */
const CONFIRMED = { least: 0.45, most: 0.7 };
/** The share of certain matches, without and with full trust in a model that the prior does not confirm. */
const DECISIVE = { certain: 0.9, least: 0.66, most: 0.86 };
/** The share of matched records of one list, without and with full trust in such a model. */
const JOINED = { least: 0.3, most: 0.5 };
/** The most weight of a model that the prior confirms: without it, models of lists in which most pairs match would tell them less and less. */
const MOST_TRUST = 0.8;
/** Number of matches for half trust. */
const TRUSTED = 50;

/** Where a share lies between two bounds, 0..1. */
const placeIn = ({ least, most }: { least: number; most: number }, share: number): number =>
  Math.min(1, Math.max(0, (share - least) / (most - least)));

/**
 * The weight of a list's own model in relation to the prior, 0..1: without matches, a model learns to separate what is only
 * similar, which the prior does not confirm.
 */
export function trustIn(own: Float64Array, prior: Float64Array): number {
  let [matches, confirmed] = [0, 0];
  for (const [at, probability] of own.entries()) {
    matches += probability;
    confirmed += probability * prior[at]!;
  }
  if (matches === 0) return 0;
  return (MOST_TRUST * placeIn(CONFIRMED, confirmed / matches) * matches) / (matches + TRUSTED);
}

/** The weight of a list's own model by its number of matches alone. */
export function sizeTrust(own: Float64Array): number {
  const matches = own.reduce((sum, probability) => sum + probability, 0);
  return matches / (matches + TRUSTED);
}

/**
 * How far a model of one-to-one matches can be trusted without the prior, 0..1: between records that only resemble each other,
 * rivals make matches uncertain.
 */
export function decisiveness(probabilities: Float64Array): number {
  let [matches, certain] = [0, 0];
  for (const probability of probabilities) {
    matches += probability;
    if (probability >= DECISIVE.certain) certain += probability;
  }
  return matches === 0 ? 0 : placeIn(DECISIVE, certain / matches);
}

/**
 * How far one list seems to be two lists of the same objects, 0..1. In others, records that are called alike and are different, such as
 * an article and its second part, may have no rivals either.
 */
export function joinedness(probabilities: Float64Array, records: number): number {
  const matches = probabilities.reduce((sum, probability) => sum + probability, 0);
  return placeIn(JOINED, (2 * matches) / Math.max(1, records));
}
