import { ALL_CODES, ALL_WORDS, type FieldKind, NUMBERS } from './matching.types.ts';
import trained from './prior.json' with { type: 'json' };

/** Bits by kind of aspect, trained on labelled lists of many kinds; see `npm run bench:matching -- --train`. */
export interface Prior {
  /** Of lists with and without the aspect of all words. */
  withWords: PriorShare;
  withoutWords: PriorShare;
  /** By kind of aspect the bits at similarities 0.05, 0.15 .. 0.95. */
  kinds: Record<string, number[]>;
}

/** The prior bits of a pair whose names are similar, and the share of matches among these in the training lists. */
interface PriorShare {
  bits: number;
  share: number;
}

const PRIOR: Prior = trained;

interface Described {
  name: string;
  kind?: FieldKind;
  isNaming?: boolean;
}

interface PriorModel {
  aspects: { aspect: string; bits: number[] }[];
  priorBits: number;
}

/** The kind of an aspect in the prior. */
function priorKind({ name, kind = 'name', isNaming }: Described): string {
  if (name === ALL_WORDS) return 'words';
  if (name === ALL_CODES) return 'codes';
  if (name.endsWith(NUMBERS)) return 'numbers';
  return kind === 'name' && !isNaming ? 'other' : kind;
}

/** The kinds of aspects, and the share of the bits of each: several aspects of one kind are not independent. */
export function priorShares(aspects: readonly Described[]): { kind: string; share: number }[] {
  const kinds = aspects.map(priorKind);
  return kinds.map((kind) => ({
    kind,
    share: 1 / Math.sqrt(kinds.filter((other) => other === kind).length),
  }));
}

/** The prior as a model of some aspects, and its share of matches. */
export function priorOf(aspects: readonly Described[]): {
  share: number;
  isOfNames: boolean;
  model: PriorModel;
} {
  const isOfNames = !aspects.some(({ name }) => name === ALL_WORDS);
  const { bits: priorBits, share } = isOfNames ? PRIOR.withoutWords : PRIOR.withWords;
  const shares = priorShares(aspects);
  const model = {
    aspects: aspects.map(({ name }, at) => ({
      aspect: name,
      bits: (PRIOR.kinds[shares[at]!.kind] ?? NO_BITS).map((bit) => bit * shares[at]!.share),
    })),
    priorBits,
  };
  return { share, isOfNames, model };
}

const NO_BITS: readonly number[] = Array<number>(10).fill(0);
