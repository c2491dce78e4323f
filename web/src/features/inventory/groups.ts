import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call, countCardFacets } from '#client';
import { useQueryRows } from '../../kit/query.ts';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { filterText, type Part, partsOf } from './filter.ts';
import type { InventorySearch } from './inventory.search.ts';
import { listQueryOf, type Segment, selectionOf } from './rows.ts';
import type { Column } from './types.ts';

/** The cards with one value of the column that groups. */
export interface Group {
  value: string | null;
  count: number;
  /** Figures by column, where the service gives them. */
  totals: ReadonlyMap<string, number>;
  /** The line of its head. */
  line: number;
  isCollapsed: boolean;
}

const fixedOrder: Record<string, string[]> = {
  phase: ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'],
  approval_status: ['DRAFT', 'APPROVED', 'BROKEN', 'REJECTED'],
};

/**
 * A filter whose conditions on the field count for the groups too: facets leave out conditions that only name their own
 * field, so each is joined with one that every card meets.
 */
function wholeFilter(filter: string | undefined, field: string): string | undefined {
  const parts = partsOf(filter).map((part): Part => {
    if (typeof part === 'string' || part.field !== field) return part;
    return `not (not (${filterText([part])}) or name is empty)`;
  });
  return filterText(parts);
}

/** The groups of the rows, each with the lines of its cards. */
export function useGroups(
  search: InventorySearch,
  by: Column | undefined,
  columns: readonly Column[],
  collapsed: ReadonlySet<string | null>,
) {
  const { permissions } = useMe();
  const field = by?.groupBy;
  const facet = field === 'phase' ? 'lifecycle_phase' : field;
  const query = {
    ...selectionOf({ ...search, filter: field ? wholeFilter(search.filter, field) : undefined }),
    facets: facet ?? '',
  };
  const { data } = useQuery({
    queryKey: ['facets', query],
    queryFn: ({ signal }) => call(countCardFacets({ signal, query })),
    placeholderData: keepPreviousData,
    enabled: field !== undefined,
  });
  const numbers = useMemo(() => columns.filter(({ total }) => total), [columns]);
  const may = isAllowed(permissions, 'reports.ea_dashboard');
  // queries have neither words nor the person's own cards
  const isPlain = !search.search && !search.mine && !search.archived;
  const { data: sums } = useQueryRows(
    field && may && isPlain && numbers.length > 0
      ? {
          from: search.type ? [search.type] : [],
          filter: search.filter ?? '',
          dimensions: [{ field }],
          measures: numbers.map(({ key, total }) => ({
            fn: total === 'average' ? ('avg' as const) : ('sum' as const),
            field: key,
          })),
        }
      : undefined,
  );
  return useMemo(() => {
    const found = data?.facets.find((one) => one.facet === facet);
    if (!field || !found) return undefined;
    const order = by.field?.options?.map(({ key }) => key) ?? fixedOrder[field] ?? [];
    const place = (value: string) => (order.includes(value) ? order.indexOf(value) : order.length);
    const values = [
      ...found.values
        .filter(({ count }) => count > 0)
        .toSorted((a, b) => place(a.value) - place(b.value) || b.count - a.count),
      ...(found.without > 0 ? [{ value: null, count: found.without }] : []),
    ];
    const groups: Group[] = [];
    const segments: Segment[] = [];
    let line = 0;
    for (const { value, count } of values) {
      const row = sums?.find(([key]) => (key === null ? null : String(key)) === value);
      const totals = new Map(
        numbers.flatMap(({ key }, at) =>
          row?.[at + 1] == null ? [] : [[key, Number(row[at + 1])] as const],
        ),
      );
      const isCollapsed = collapsed.has(value);
      groups.push({ value, count, totals, line, isCollapsed });
      line += 1;
      if (isCollapsed) continue;
      const own = filterText([...partsOf(search.filter), { field, operator: 'in', values: [value] }]);
      segments.push({ query: listQueryOf({ ...search, filter: own }), start: line, count });
      line += count;
    }
    return { groups, segments, lines: line };
  }, [data, sums, facet, field, by, numbers, collapsed, search]);
}
