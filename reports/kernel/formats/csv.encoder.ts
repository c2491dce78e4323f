import { cellReader } from './binary-rows.ts';
import { csvCell } from './cells.ts';
import type { Column, ColumnType } from './formats.types.ts';
import { type LineEncoder, lineEncoder, marked } from './line-writer.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;

const codes = (characters: string) => [...characters].map((character) => character.charCodeAt(0));
/** Bytes with which a cell may need quotes or have escapes. */
const special = marked(...codes('",;\t\r\n\\'));
/** First bytes of a cell that may need an apostrophe or quotes; 0xEF begins full-width characters. */
const specialFirst = marked(...codes("=+-@' "), 0xef);

/** Types whose values are sent as texts. */
const isText: Partial<Record<ColumnType, true>> = { text: true, key: true, date: true };

/**
 * An encoder of lines of CSV. It copies the bytes of texts that need no quotes: making strings of them would take most of the time
 * of an extraction.
 * @param guard whether formulas are neutralised.
 */
export function csvEncoder(columns: Column[], guard: boolean): LineEncoder {
  const readCell = cellReader(columns);
  const isCopied = columns.map(({ type }) => isText[type] === true);
  return lineEncoder(columns, { growth: 2, fixed: columns.length + 2 }, (row, out) => {
    const { bytes } = row.chunk;
    for (let at = 0; at < columns.length; at += 1) {
      if (at > 0) out.byte(COMMA);
      const from = row.starts[at]!;
      if (from < 0) continue;
      const to = row.ends[at]!;
      const json = row.isJson[at] === 1;
      const quoted = json && bytes[from] === QUOTE ? 1 : 0;
      const [start, end] = [from + quoted, to - quoted];
      const isPlain =
        (json || isCopied[at]) &&
        (start === end || (specialFirst[bytes[start]!] === 0 && bytes[end - 1] !== SPACE)) &&
        out.copyUnless(special, bytes, start, end);
      if (!isPlain) out.text(csvCell(readCell(at, row.chunk, from, to, json), guard));
    }
    out.text('\r\n');
  });
}
