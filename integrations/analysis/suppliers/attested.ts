import { editDistance } from '../matching/misspellings.ts';
import { piecesOf } from '../matching/tokens.ts';
import { isMisspelling, type Spelling } from './spelling.ts';

/** A spelling of a supplier, and how often it is used. */
interface Attested {
  spelling: Spelling;
  /** Provider cards with this name. */
  cards: readonly string[];
  /** Number of cards that it supplies. */
  supplied: number;
}

/** Weight of a Provider card, in supplied cards. */
const CARD = 2;
/** Length of the pieces of names by which spellings are compared. */
const PIECE = 3;
const MOST_DISTANCE = 3;

/** By piece of names, the number of names with it. */
export function piecesIn(keys: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys)
    for (const piece of new Set(piecesOf(key, PIECE))) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  return counts;
}

/**
 * Moves the best-attested spelling of a supplier before its misspellings: the most frequently used one; of equally frequent ones
 * that with the fewest wrong letters compared with all others, then that whose letters are the most usual ones in other names.
 * @param members the preferred name first.
 * @param pieces of all names.
 */
export function attestedFirst<T extends Attested>(
  members: readonly T[],
  pieces: ReadonlyMap<string, number>,
): T[] {
  const [first, ...rest] = members;
  const spellings = members.filter((one) => one === first || isMisspelling(one.spelling, first!.spelling));
  if (spellings.length < 2) return [...members];
  const used = ({ supplied, cards }: T) => supplied + CARD * cards.length;
  const wrong = ({ spelling: { key } }: T) =>
    rest
      .concat(first!)
      .reduce((sum, { spelling }) => sum + editDistance(key, spelling.key, MOST_DISTANCE), 0);
  const usual = ({ spelling: { key } }: T) => {
    const own = piecesOf(key, PIECE);
    return own.reduce((sum, piece) => sum + Math.log(pieces.get(piece) ?? 1), 0) / own.length;
  };
  const best = spellings.toSorted(
    (a, b) => used(b) - used(a) || wrong(a) - wrong(b) || usual(b) - usual(a),
  )[0]!;
  return [best, ...members.filter((one) => one !== best)];
}
