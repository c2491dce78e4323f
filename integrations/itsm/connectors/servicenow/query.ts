/** The path of a table's records in the Table API; of one of them if its key is given. */
export const pathOf = (table: string, id?: string): string =>
  `/api/now/v2/table/${encodeURIComponent(table)}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** A time as the remote writes it: `2026-01-31 23:59:59` in UTC. */
export const toRemoteTime = (moment: string | number): string =>
  new Date(moment).toISOString().slice(0, 19).replace('T', ' ');

/** A time of the remote as RFC 3339; undefined for any other text. */
export function fromRemoteTime(text: string): string | undefined {
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`);
  return text === '' || Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

const escaped = (value: string): string => value.replaceAll('^', '^^');

/** One condition, with a caret in its value escaped. */
export const where = (field: string, operator: string, value = ''): string =>
  `${field}${operator}${escaped(value)}`;

const orderPart = /^(ORDERBY|ORDERBYDESC|GROUPBY|TRENDBY)[a-z]|^EQ$/;

/** The groups of a filter (joined by ^NQ), without the parts that order or group rows. */
function filterGroups(filter: string): string[] {
  const parts = filter.trim() === '' ? [] : splitCarets(filter.trim());
  const groups: string[][] = [[]];
  for (const part of parts) {
    if (part === '' || orderPart.test(part)) continue;
    if (part.startsWith('NQ')) groups.push([]);
    const rest = part.startsWith('NQ') ? part.slice(2) : part;
    if (rest !== '' && !orderPart.test(rest)) groups.at(-1)!.push(rest);
  }
  return groups.map((group) => group.join('^'));
}

/** Splits at carets that are not doubled. */
function splitCarets(text: string): string[] {
  return text
    .replaceAll('^^', '\u0000')
    .split('^')
    .map((part) => part.replaceAll('\u0000', '^^'));
}

/** Rows that fit the filter and the conditions, ordered by these columns. The conditions apply to each group of the filter. */
export function encodedQuery(filter: string | undefined, conditions: string[], order: string[]): string {
  const groups = filterGroups(filter ?? '').map((group) =>
    [group, ...conditions].filter((part) => part !== '').join('^'),
  );
  return [groups.join('^NQ'), ...order.map((field) => `ORDERBY${field}`)]
    .filter((part) => part !== '')
    .join('^');
}

const conditionForm = /^(?:OR)?([a-z0-9_]+(?:\.[a-z0-9_]+)*)(?=[A-Z!=<>])/;

/** The columns that a filter names. */
export function namesInFilter(filter: string): string[] {
  const names = filterGroups(filter)
    .flatMap((group) => splitCarets(group))
    .map((part) => conditionForm.exec(part)?.[1])
    .filter((name) => name !== undefined);
  return [...new Set(names)];
}
