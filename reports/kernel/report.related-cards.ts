import type { ReportBody } from './report.body.ts';
import type { IdNumbers } from './report.ids.ts';
import { eachLine } from './report.lines.ts';
import { ID_FROM } from './report.numbered.ts';

const TYPE = '"type":"';
const NONE = Buffer.alloc(0);

/** Whether the bytes before an offset are equal to `tail`. */
function endsWith(bytes: Buffer, to: number, tail: Buffer): boolean {
  const from = to - tail.length;
  for (let n = tail.length - 1; n >= 0; n -= 1) if (bytes[from + n] !== tail[n]) return false;
  return true;
}

/**
 * Writes the related cards as an object of arrays by type.
 * @param lines ordered by type; each begins with the card's id and ends with its type.
 */
export function writeRelatedCards(
  body: ReportBody,
  lines: Buffer,
  cards: IdNumbers,
  isRelated: Uint8Array,
): void {
  // the common end of the current type's lines
  let tail: Buffer = NONE;
  body.text('{');
  // consecutive lines are copied together
  let first = 0;
  let last = 0;
  const flush = () => {
    if (last > first) body.copy(lines, first, last);
  };
  eachLine(lines, (from, to) => {
    const card = cards.findText(lines, from + ID_FROM);
    if (card < 0 || isRelated[card] === 0) return;
    if (tail.length === 0 || !endsWith(lines, to, tail)) {
      flush();
      body.text(tail.length === 0 ? '' : '],');
      tail = lines.subarray(lines.lastIndexOf(TYPE, to), to);
      body.text(`${tail.toString('utf8', TYPE.length - 1, tail.length - 1)}:[`);
      first = from;
    } else if (from > last + 2) {
      flush();
      body.text(',');
      first = from;
    }
    last = to;
  });
  flush();
  body.text(tail.length === 0 ? '}' : ']}');
}
