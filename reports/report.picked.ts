import type { ReportBody } from './report.body.ts';
import type { IdNumbers } from './report.ids.ts';
import { eachLine } from './report.lines.ts';
import { ID_FROM } from './report.numbered.ts';

const TYPE = '"type":"';

/**
 * Writes the cards that are related, as an object of arrays by type.
 * @param lines in the order of types, each card beginning with its id and ending with its type.
 */
export function writePicked(body: ReportBody, lines: Buffer, cards: IdNumbers, isRelated: Uint8Array): void {
  let tail = '';
  body.text('{');
  // those that follow each other are copied together
  let first = 0;
  let last = 0;
  const pass = () => {
    if (last > first) body.copy(lines, first, last);
  };
  for (const [from, to] of eachLine(lines)) {
    const card = cards.findText(lines, from + ID_FROM);
    if (card < 0 || isRelated[card] === 0) continue;
    if (tail === '' || lines.toString('latin1', to - tail.length, to) !== tail) {
      pass();
      body.text(tail === '' ? '' : '],');
      tail = lines.toString('latin1', lines.lastIndexOf(TYPE, to), to);
      body.text(`${tail.slice(TYPE.length - 1, -1)}:[`);
      first = from;
    } else if (from > last + 2) {
      pass();
      body.text(',');
      first = from;
    }
    last = to;
  }
  pass();
  body.text(tail === '' ? '}' : ']}');
}
