/** `2026-01-31 23:59:59` in UTC, as the remote writes moments; RFC 3339 for us. */
export const toRemoteTime = (moment: string | number): string =>
  new Date(moment).toISOString().slice(0, 19).replace('T', ' ');

/** @returns undefined where it is no moment. */
export function fromRemoteTime(text: string): string | undefined {
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`);
  return text === '' || Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

const escaped = (value: string): string => value.replaceAll('^', '^^');

/** One condition, with a caret in its value escaped. */
export const where = (field: string, operator: string, value = ''): string =>
  `${field}${operator}${escaped(value)}`;

const orderPart = /^(ORDERBY|ORDERBYDESC|GROUPBY|TRENDBY)[a-z]|^EQ$/;

/** The groups of a filter (joined by ^NQ), without what says nothing about which rows fit. */
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

/** Rows that fit the filter and the conditions, in an order: each group of the filter takes the conditions on. */
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
