import type { Column } from './types.ts';

/** Width limits of columns in pixels. */
const MIN_WIDTH = 60;
const MAX_WIDTH = 900;

/** A column that is shown, with its width. */
export interface ShownColumn extends Column {
  /** Differs from `usualWidth` if somebody resized it. */
  width: number;
}

export const limited = (width: number) => Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)));

/** The columns of an address, the name first; without any, the usual ones. */
export function shownColumns(all: readonly Column[], cols: readonly string[] | undefined): ShownColumn[] {
  const byKey = new Map(all.map((column) => [column.key, column]));
  const entries = (cols ?? usualColumns(all)).map((entry) => {
    const [, key = entry, width] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
    return { key, width: width === undefined ? undefined : limited(Number(width)) };
  });
  const named = entries.some(({ key }) => key === 'name')
    ? entries
    : [{ key: 'name', width: undefined }, ...entries];
  const first = named.find(({ key }) => key === 'name')!;
  return [first, ...named.filter(({ key }) => key !== 'name')].flatMap(({ key, width }) => {
    const column = byKey.get(key);
    return column ? [{ ...column, width: width ?? column.usualWidth }] : [];
  });
}

/** The columns as the address has them; undefined for the usual ones. */
export function colsOf(all: readonly Column[], shown: readonly ShownColumn[]): string[] | undefined {
  const cols = shown.map(({ key, width, usualWidth }) => (width === usualWidth ? key : `${key}:${width}`));
  return cols.join() === usualColumns(all).join() ? undefined : cols;
}

const USUAL_ATTRIBUTES = 7;

/** The columns that are shown until somebody chooses others. */
function usualColumns(all: readonly Column[]): string[] {
  const own = all
    .filter(({ key, isUsual }) => isUsual && key.startsWith('attributes.'))
    .slice(0, USUAL_ATTRIBUTES);
  const has = (key: string) => all.some((column) => column.key === key);
  return [
    'name',
    ...(own.length === 0 && has('subtype') ? ['subtype'] : []),
    'lifecycle',
    ...own.map(({ key }) => key),
    'stakeholders',
    'data_quality',
  ];
}

/** Fields by which rows are sorted at once. */
const MOST_SORTS = 4;

/** The fields of an order, each with `-` before it for descending. */
export const sortsOf = (sort: string): string[] => sort.split(',').filter(Boolean);

/** The order after a click on the title of a column; `adds` keeps the others, and takes it out by a third click. */
export function sortAfter(sort: string, field: string, adds: boolean): string {
  const sorts = sortsOf(sort);
  const at = sorts.findIndex((one) => one.replace(/^-/, '') === field);
  const turned = sorts[at] === field ? `-${field}` : field;
  if (!adds) return turned;
  if (at < 0) return [...sorts.slice(0, MOST_SORTS - 1), field].join(',');
  return (sorts[at] === field ? sorts.with(at, turned) : sorts.toSpliced(at, 1)).join(',');
}
