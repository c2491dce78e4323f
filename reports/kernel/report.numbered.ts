import { IdNumbers } from './report.ids.ts';
import { eachLine } from './report.lines.ts';

const LF = 10;
/** Offset of the id's text in a line that begins with the id. */
export const ID_FROM = '{"id":"'.length;

/** Lines that begin with their id: start and end of each line, and line numbers by id. */
export interface NumberedLines {
  bytes: Buffer;
  from: Int32Array;
  to: Int32Array;
  numbers: IdNumbers;
}

export function numberedLines(bytes: Buffer): NumberedLines {
  let most = 1;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) most += 1;
  const [from, to] = [new Int32Array(most), new Int32Array(most)];
  let count = 0;
  eachLine(bytes, (start, end) => {
    from[count] = start;
    to[count] = end;
    count += 1;
  });
  const numbers = new IdNumbers(count);
  for (let n = 0; n < count; n += 1) numbers.addText(bytes, from[n]! + ID_FROM);
  return { bytes, from, to, numbers };
}
