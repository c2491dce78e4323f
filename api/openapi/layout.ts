/** Maximum characters of a line without its indentation. */
const WIDTH = 180;

/** Formats JSON with an indentation of one space: what fits is written on one line, and scalar array items share lines. */
export function layoutJson(value: unknown, level = 0, before = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const line = oneLine(value);
  if (before + line.length <= WIDTH) return line;
  const inner = ' '.repeat(level + 1);
  const outer = ' '.repeat(level);
  if (Array.isArray(value)) {
    const plain = value.every((item) => typeof item !== 'object' || item === null);
    const items = plain ? filled(value) : value.map((item) => layoutJson(item, level + 1));
    return `[\n${items.map((item) => inner + item).join(',\n')}\n${outer}]`;
  }
  const members = membersOf(value).map(([name, member]) => {
    const key = `${JSON.stringify(name)}: `;
    return inner + key + layoutJson(member, level + 1, key.length);
  });
  return `{\n${members.join(',\n')}\n${outer}}`;
}

const membersOf = (value: object): [string, unknown][] =>
  Object.entries(value).filter(([, member]) => member !== undefined);

/** Fills lines with as many values as fit. */
function filled(values: unknown[]): string[] {
  const lines: string[] = [];
  for (const text of values.map((value) => JSON.stringify(value))) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length + 2 <= WIDTH)
      lines[lines.length - 1] = `${last}, ${text}`;
    else lines.push(text);
  }
  return lines;
}

function oneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  const members = membersOf(value).map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
