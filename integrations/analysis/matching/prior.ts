import { BINS } from './bits.ts';
import { ALL_CODES, ALL_WORDS, type FieldKind, NUMBERS, type Prior, RARITY } from './matching.types.ts';

interface Described {
  name: string;
  kind?: FieldKind;
  isNaming?: boolean;
}

interface PriorModel {
  aspects: { aspect: string; bits: number[]; matches: readonly number[] }[];
  priorBits: number;
}

/** The kind of an aspect in the prior. */
function priorKind({ name, kind = 'name', isNaming }: Described): string {
  if (name === ALL_WORDS) return 'words';
  if (name === ALL_CODES) return 'codes';
  if (name === RARITY) return 'rarity';
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

/** The prior as a model of some aspects. */
export function priorOf(
  { bits: priorBits, kinds, matches }: Prior,
  aspects: readonly Described[],
): PriorModel {
  const shares = priorShares(aspects);
  return {
    aspects: aspects.map(({ name }, at) => ({
      aspect: name,
      bits: (kinds[shares[at]!.kind] ?? NO_BITS).map((bit) => bit * shares[at]!.share),
      matches: matches[shares[at]!.kind] ?? EVEN,
    })),
    priorBits,
  };
}

const NO_BITS: readonly number[] = Array<number>(BINS).fill(0);
const EVEN: readonly number[] = Array<number>(BINS).fill(1 / BINS);
