import shapeShares from './shape.shares.json' with { type: 'json' };

/** One card type's part of the landscape. */
interface Share {
  type: string;
  prefix: string;
  /** Of all cards. */
  share: number;
  /** Shares of the levels of the tree, roots first; adds up to 1. */
  levels: number[];
}

/** 40 % applications, 20 % components, 10 % each interfaces and capabilities, the rest over the other types. */
const shares: Share[] = shapeShares;

/** The place of a type's cards in the landscape, and how they nest. */
export interface TypeShape {
  type: string;
  prefix: string;
  /** Number of the first card. */
  first: number;
  count: number;
  /** How many cards each level has, roots first. */
  levels: number[];
}

export type Shape = { cards: number; types: TypeShape[]; of(type: string): TypeShape };

/** Splits a whole into whole parts by their shares; each part gets at least one while there are enough. */
function split(whole: number, parts: number[]): number[] {
  let left = whole;
  let leftShares = parts.reduce((sum, share) => sum + share, 0);
  return parts.map((share, at) => {
    const wanted = Math.round((left * share) / leftShares);
    const part = Math.max(Math.min(1, left), Math.min(wanted, left - (parts.length - 1 - at)));
    left -= part;
    leftShares -= share;
    return part;
  });
}

/** Below this size some types have no card but a hub, and the skew of the relations is lost. */
const FEWEST = 1_000;

/** The layout of a landscape with so many cards; needs at least `FEWEST`. */
export function shapeOf(cards: number): Shape {
  if (cards < FEWEST) throw new RangeError(`a landscape needs at least ${FEWEST} cards, not ${cards}`);
  const counts = split(
    cards,
    shares.map(({ share }) => share),
  );
  let first = 0;
  const types = shares.map(({ type, prefix, levels }, at) => {
    const count = counts[at]!;
    const shape: TypeShape = {
      type,
      prefix,
      first,
      count,
      levels: split(count, levels).filter((n) => n > 0),
    };
    first += count;
    return shape;
  });
  const byType = new Map(types.map((shape) => [shape.type, shape]));
  return { cards, types, of: (type) => byType.get(type)! };
}

export const externalId = (shape: TypeShape, at: number): string =>
  `${shape.prefix}-${String(at + 1).padStart(5, '0')}`;

/** Level (from 0) of the card at a place within its type, and its parent's place. */
export function placeInTree(shape: TypeShape, at: number) {
  let start = 0;
  let level = 0;
  while (at >= start + shape.levels[level]!) {
    start += shape.levels[level]!;
    level += 1;
  }
  const size = shape.levels[level]!;
  const above = shape.levels[level - 1];
  const below = shape.levels[level + 1];
  const within = at - start;
  return {
    level,
    parent: above === undefined ? undefined : start - above + Math.floor((within * above) / size),
    // the first child of a card, if it has one, lies at the rounded-up place
    leaf: below === undefined || Math.floor((Math.ceil((within * below) / size) * size) / below) !== within,
  };
}

/** How many cards have no children. */
export function leavesOf(shape: Shape): number {
  const parents = shape.types.flatMap(({ levels }) =>
    levels.slice(1).map((size, at) => Math.min(size, levels[at]!)),
  );
  return shape.cards - parents.reduce((sum, count) => sum + count, 0);
}
