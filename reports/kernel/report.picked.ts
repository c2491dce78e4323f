import type { ReportBody } from './report.body.ts';
import type { IdNumbers } from './report.ids.ts';
import { eachLine } from './report.lines.ts';
import { ID_FROM } from './report.numbered.ts';

const TYPE = '"type":"';
const NONE = Buffer.alloc(0);

/** Whether the bytes before a place are the same. */
function endsWith(bytes: Buffer, to: number, tail: Buffer): boolean {
  const from = to - tail.length;
  for (let n = tail.length - 1; n >= 0; n -= 1) if (bytes[from + n] !== tail[n]) return false;
  return true;
}

/**
 * Writes the cards that are related, as an object of arrays by type.
 * @param lines in the order of types, each card beginning with its id and ending with its type.
 */
export function writePicked(body: ReportBody, lines: Buffer, cards: IdNumbers, isRelated: Uint8Array): void {
  // how the lines of the type end that is being written
  let tail: Buffer = NONE;
  body.text('{');
  // those that follow each other are copied together
  let first = 0;
  let last = 0;
  const pass = () => {
    if (last > first) body.copy(lines, first, last);
  };
  eachLine(lines, (from, to) => {
    const card = cards.findText(lines, from + ID_FROM);
    if (card < 0 || isRelated[card] === 0) return;
    if (tail.length === 0 || !endsWith(lines, to, tail)) {
      pass();
      body.text(tail.length === 0 ? '' : '],');
      tail = lines.subarray(lines.lastIndexOf(TYPE, to), to);
      body.text(`${tail.toString('utf8', TYPE.length - 1, tail.length - 1)}:[`);
      first = from;
    } else if (from > last + 2) {
      pass();
      body.text(',');
      first = from;
    }
    last = to;
  });
  pass();
  body.text(tail.length === 0 ? '}' : ']}');
}
