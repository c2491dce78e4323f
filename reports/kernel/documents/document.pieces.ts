import type { Inline } from './document.types.ts';

/**
 * The most characters that are laid out as one text. The time of the layout grows with the square of the number of words,
 * and of the characters of a word that is longer than a line.
 */
const PIECE = 10_000;

/**
 * Splits a text into pieces to be laid out one below the other; joined, they are the text. Only a text of more than `PIECE`
 * characters is split: after a line break, else after a word, else within a word that is longer than half a piece.
 */
export function piecesOf(inlines: readonly Inline[]): Inline[][] {
  const pieces: Inline[][] = [];
  let piece: Inline[] = [];
  let room = PIECE;
  for (const inline of inlines) {
    let rest = inline.text;
    while (rest.length > room) {
      const cut = cutAt(rest, room);
      if (cut > 0) piece.push({ ...inline, text: rest.slice(0, cut) });
      if (piece.length > 0) pieces.push(piece);
      rest = rest.slice(cut);
      piece = [];
      room = PIECE;
    }
    // an inline costs time as well, so that empty ones are counted too
    room = Math.max(0, room - rest.length - 1);
    if (rest !== '' || inlines.length === 1) piece.push({ ...inline, text: rest });
  }
  return piece.length > 0 || pieces.length === 0 ? [...pieces, piece] : pieces;
}

/** Where to split within the first `room` characters; 0 for before all of them. */
function cutAt(text: string, room: number): number {
  const part = text.slice(0, room);
  const line = part.lastIndexOf('\n') + 1;
  if (line > PIECE / 2) return line;
  const word = /^.*\s/su.exec(part)?.[0].length ?? 0;
  if (word > 0) return word;
  // a word that begins near the end of a piece goes to the next one
  if (room < PIECE / 2) return 0;
  // not between the two units of a surrogate pair
  return part.isWellFormed() ? room : room - 1;
}
