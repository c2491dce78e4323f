/**
 * How values stand in CSV cells, in both directions. A text that a spreadsheet would take for a formula gets one
 * apostrophe in front, which reading takes off again (OWASP, CSV injection).
 */

/** `=`, `+`, `-`, `@`, tab, CR, or an apostrophe before one of these. */
const risky = /^'?[=+\-@\t\r]/;
const guarded = /^''?[=+\-@\t\r]/;

/** The text with an apostrophe in front where a spreadsheet would calculate it. */
export function neutralise(text: string): string {
  return risky.test(text) ? `'${text}` : text;
}

/** The text as it was before {@link neutralise}. */
export function restore(text: string): string {
  return guarded.test(text) ? text.slice(1) : text;
}

/** Quotes a cell where RFC 4180 needs it: separators, quotes, line breaks, and blanks at the ends. */
export function quoteCell(text: string): string {
  return /[",;\t\r\n]|^ | $/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Several values in one cell: joined by `;`, with `\;` and `\\` for those characters themselves. */
export function joinValues(values: readonly string[]): string {
  return values.map((value) => value.replace(/[\\;]/g, '\\$&')).join(';');
}

/** The values of a cell made by {@link joinValues}; blanks around each are dropped, empty ones too. */
export function splitValues(cell: string): string[] {
  return splitEscaped(cell, ';');
}

/** A path of names in one cell: `Parent / Child`, with `\/` and `\\` for those characters themselves. */
export function joinPath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\/]/g, '\\$&')).join(' / ');
}

/** The names of a path made by {@link joinPath}. */
export function splitPath(cell: string): string[] {
  return splitEscaped(cell, '/');
}

function splitEscaped(cell: string, separator: string): string[] {
  const parts: string[] = [];
  let part = '';
  for (let n = 0; n < cell.length; n += 1) {
    const character = cell[n]!;
    if (character === '\\' && n + 1 < cell.length) {
      n += 1;
      part += cell[n];
    } else if (character === separator) {
      parts.push(part);
      part = '';
    } else {
      part += character;
    }
  }
  parts.push(part);
  return parts.map((text) => text.trim()).filter((text) => text !== '');
}
