import { cellReader } from './binary-rows.ts';
import type { Column } from './formats.types.ts';
import { type LineEncoder, lineEncoder, marked } from './line-writer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CLOSE = 0x7d;

/** Bytes that JSON escapes in a text. */
const special = marked(QUOTE, BACKSLASH, ...Array.from({ length: 0x20 }, (_, code) => code));

/** An encoder of a JSON object per line, with `lifecycle` and `attributes` nested. It copies JSON, and texts without escapes. */
export function jsonLinesEncoder(columns: Column[]): LineEncoder {
  const readCell = cellReader(columns);
  const members = columns.map(({ header, type }, at) => {
    const [, group = '', key = header] = /^(lifecycle|attributes)\.(.*)$/s.exec(header) ?? [];
    const isJson = type === 'json' || type === 'multi';
    const isText = type === 'text' || type === 'key' || type === 'date';
    return { at, group, isJson, isText, key: Buffer.from(`,${JSON.stringify(key)}:`) };
  });
  // nested members come last, and together
  const ordered = ['', 'lifecycle', 'attributes'].flatMap((group) =>
    members.filter((member) => member.group === group),
  );
  const fixed = members.reduce((sum, { key }) => sum + key.length, 64);
  return lineEncoder(columns, { growth: 6, fixed }, (row, out) => {
    const { bytes } = row.chunk;
    let isFirst = true;
    let open = '';
    out.text('{');
    for (const { at, group, isJson, isText, key } of ordered) {
      const from = row.starts[at]!;
      if (from < 0) continue;
      const to = row.ends[at]!;
      if (group !== open) {
        if (open !== '') out.byte(CLOSE);
        out.text(`${isFirst ? '' : ','}"${group}":{`);
        open = group;
        isFirst = true;
      }
      out.copy(key, isFirst ? 1 : 0, key.length);
      isFirst = false;
      if (isJson || row.isJson[at] === 1) out.copy(bytes, from, to);
      else if (!(isText && out.copyQuoted(special, bytes, from, to)))
        out.text(JSON.stringify(readCell(at, row.chunk, from, to, false)));
    }
    out.text(open === '' ? '}\n' : '}}\n');
  });
}
