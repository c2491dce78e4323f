/** The cells of a text by line (RFC 4180): quotes hold separators and line breaks together. */
export function cellsOf(text: string, separator: string): string[][] {
  const lines: string[][] = [[]];
  const pattern = new RegExp(
    `(?:"((?:[^"]|"")*)"|([^${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`,
    'gy',
  );
  const source = text.replace(/\r?\n$/, '');
  for (let found = pattern.exec(source); found; found = pattern.exec(source)) {
    lines.at(-1)!.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === '') break;
    if (found[3] !== separator) lines.push([]);
  }
  return lines;
}
