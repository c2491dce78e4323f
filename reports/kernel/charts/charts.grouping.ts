import { chartText, type InLanguage } from './charts.texts.ts';
import type { MatrixLine } from './charts.types.ts';

/** Maximum number of groups side by side, in any chart: of more, the largest are drawn and the others combined. */
export const MOST_GROUPS = 60;

/** Lines of a matrix, with the lines that each stands for. */
export interface Group {
  name: string;
  /** The group above, for headings and separators. */
  above: { key: string; name: string } | undefined;
  members: number[];
  /** Whether it combines what does not fit. */
  isRest?: boolean;
}

/** At most `most` groups of lines: the lines themselves, else grouped one or more levels up, else the fullest ones. */
export function groupLines(
  lines: readonly MatrixLine[],
  counts: readonly number[],
  most: number,
  language: InLanguage = {},
): { groups: Group[]; level: number } {
  const used = lines.flatMap((_, at) => (counts[at]! > 0 || lines.length <= most ? [at] : []));
  if (used.length <= most)
    return {
      groups: used.map((at) => ({ name: lines[at]!.name, above: lines[at]!.above?.[0], members: [at] })),
      level: 0,
    };
  const deepest = Math.max(0, ...used.map((at) => lines[at]!.above?.length ?? 0));
  for (let level = 1; level <= deepest; level += 1) {
    const groups = groupsAt(lines, used, deepest - level);
    if (groups.length <= most) return { groups, level };
  }
  const groups =
    deepest > 0
      ? groupsAt(lines, used, 0)
      : used.map((at) => ({ name: lines[at]!.name, above: undefined, members: [at] }));
  const size = ({ members }: Group) => members.reduce((sum, at) => sum + counts[at]!, 0);
  const ranked = groups.toSorted((a, b) => size(b) - size(a));
  const rest = ranked.slice(most - 1);
  const others = {
    name: chartText(language, 'other', { count: rest.length }),
    above: undefined,
    isRest: true,
    members: rest.flatMap(({ members }) => members),
  };
  return { groups: [...ranked.slice(0, most - 1), others], level: deepest };
}

/** Groups by the ancestor at a depth, which is 0 for those without one above; lines that are not below it stand for themselves. */
function groupsAt(lines: readonly MatrixLine[], used: number[], depth: number): Group[] {
  const groups = new Map<string, Group>();
  for (const at of used) {
    const { key: ownKey, name, above = [] } = lines[at]!;
    const place = Math.max(above.length - depth, 0) - 1;
    const own = above[place];
    const key = own?.key ?? ownKey ?? `line ${at}`;
    const group = groups.get(key) ?? { name: own?.name ?? name, above: above[place + 1], members: [] };
    group.members.push(at);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Orders lines by the mean place of their cells, within their groups, so that cells come together. */
export function clustered(
  rows: readonly Group[],
  columns: readonly Group[],
  cells: readonly (readonly [row: number, column: number, value: number])[],
): { rows: number[]; columns: number[] } {
  let rowOrder = rows.map((_, at) => at);
  let columnOrder = columns.map((_, at) => at);
  const sortBy = (order: number[], groups: readonly Group[], other: number[], side: 0 | 1): number[] => {
    const place = new Map(other.map((line, at) => [line, at]));
    const sums = new Map<number, [number, number]>();
    for (const cell of cells) {
      const sum = sums.get(cell[side]) ?? [0, 0];
      sums.set(cell[side], [sum[0] + place.get(cell[1 - side]!)!, sum[1] + 1]);
    }
    const mean = (line: number) => {
      const sum = sums.get(line);
      return sum ? sum[0] / sum[1] : Infinity;
    };
    const keys = [...new Set(order.map((line) => groups[line]!.above?.key))];
    const groupMean = new Map(
      keys.map((key) => {
        const own = order
          .filter((line) => groups[line]!.above?.key === key)
          .map(mean)
          .filter(Number.isFinite);
        return [key, own.length > 0 ? own.reduce((sum, one) => sum + one, 0) / own.length : Infinity];
      }),
    );
    const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);
    return order.toSorted((a, b) => {
      const rest = Number(groups[a]!.isRest ?? false) - Number(groups[b]!.isRest ?? false);
      if (rest !== 0) return rest;
      const empty = Number(!sums.has(a)) - Number(!sums.has(b));
      if (empty !== 0) return empty;
      const [one, other] = [groups[a]!.above?.key, groups[b]!.above?.key];
      if (one !== other)
        return (
          compare(groupMean.get(one)!, groupMean.get(other)!) ||
          compare(keys.indexOf(one), keys.indexOf(other))
        );
      return compare(mean(a), mean(b)) || a - b;
    });
  };
  for (let sweep = 0; sweep < 3; sweep += 1) {
    rowOrder = sortBy(rowOrder, rows, columnOrder, 0);
    columnOrder = sortBy(columnOrder, columns, rowOrder, 1);
  }
  return { rows: rowOrder, columns: columnOrder };
}
