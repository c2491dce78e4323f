import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type Bookmark,
  type CreateBookmarkData,
  call,
  createBookmark,
  deleteBookmark,
  listBookmarks,
  patchBookmark,
} from '#client';
import { type Condition, filterText } from './filter.ts';
import type { InventorySearch } from './inventory.search.ts';
import { type ShownColumn, sortsOf } from './layout.ts';

export type View = Bookmark;
type ViewBody = CreateBookmarkData['body'];
type Filters = NonNullable<ViewBody['filters']>;

interface Sorted {
  field: string;
  direction?: 'asc' | 'desc';
}

/** Views that are read; more do not fit into a menu. */
const MOST = 200;

const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: async ({ signal }) =>
    (await call(listBookmarks({ signal, query: { page_size: MOST } }))).items as View[],
});

/** The saved views that the person sees. */
export const useViews = () => useQuery(viewsQuery).data ?? [];

/** One of them; others that change render nothing. */
export const useView = (id: string | undefined) =>
  useQuery({ ...viewsQuery, select: (views) => views.find((view) => view.id === id) }).data;

/** Conditions of views that other clients saved by member instead of as an expression. */
function conditionsOf(filters: Filters): Condition[] {
  const { subtypes, approvalStatuses, lifecyclePhases, dataQualityMin, attributes = {} } = filters;
  const oneOf = (field: string, values: readonly string[] | undefined): Condition[] =>
    values?.length ? [{ field, operator: 'in', values: [...values] }] : [];
  return [
    ...oneOf('subtype', subtypes),
    ...oneOf('approval_status', approvalStatuses),
    ...oneOf('phase', lifecyclePhases),
    ...(typeof dataQualityMin === 'number'
      ? [{ field: 'data_quality', operator: '>=' as const, values: [String(dataQualityMin)] }]
      : []),
    ...Object.entries(attributes).flatMap(([key, value]): Condition[] => {
      const values = (Array.isArray(value) ? value : [value]).map((one) =>
        one === null ? null : String(one),
      );
      return values.length > 0 ? [{ field: `attributes.${key}`, operator: 'in', values }] : [];
    }),
  ];
}

/** The address that shows a view. */
export function searchOfView(view: View): InventorySearch {
  const filters = (view.filters ?? {}) as Filters;
  const { further = [], ...first } = (view.sort ?? {}) as Partial<Sorted> & { further?: Sorted[] };
  const sorts = [first, ...further].flatMap(({ field, direction }) =>
    field ? [direction === 'desc' ? `-${field}` : field] : [],
  );
  const layout = (view.layout ?? {}) as { group_by?: string; widths?: Record<string, number> };
  const { widths = {} } = layout;
  const parts = [...conditionsOf(filters), ...(filters.expression ? [filters.expression] : [])];
  return {
    type: filters.types?.length === 1 ? filters.types[0] : undefined,
    search: filters.search || undefined,
    filter: filterText(parts),
    sort: sorts.join(',') || undefined,
    cols: view.columns?.map((key) => (widths[key] ? `${key}:${widths[key]}` : key)),
    group: layout.group_by,
    archived: filters.showArchived || undefined,
    mine: filters.mine || undefined,
    view: view.id,
  };
}

/** What a view stores of an address. */
export function bodyOfView(search: InventorySearch, columns: readonly ShownColumn[]): Omit<ViewBody, 'name'> {
  const widths = columns
    .filter(({ width, usualWidth }) => width !== usualWidth)
    .map(({ key, width }) => [key, width]);
  const [first, ...further] = sortsOf(search.sort ?? '').map(
    (one): Sorted => ({ field: one.replace(/^-/, ''), direction: one.startsWith('-') ? 'desc' : 'asc' }),
  );
  return {
    card_type: search.type ?? null,
    filters: {
      ...(search.type && { types: [search.type] }),
      ...(search.search && { search: search.search }),
      ...(search.filter && { expression: search.filter }),
      ...(search.mine && { mine: true }),
      ...(search.archived && { showArchived: true }),
    },
    columns: search.cols ? columns.map(({ key }) => key) : null,
    sort: first ? { ...first, ...(further.length > 0 && { further }) } : null,
    layout: {
      ...(search.group && { group_by: search.group }),
      ...(widths.length > 0 && { widths: Object.fromEntries(widths) }),
    },
  };
}

const stored = ({ peek: _, create: __, view: ___, where: ____, ...state }: InventorySearch) => {
  const set = Object.entries(state).filter(([, value]) => value !== undefined);
  return JSON.stringify(set.sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Whether an address differs from the view from which it began. */
export const isEdited = (search: InventorySearch, view: View): boolean =>
  stored(search) !== stored(searchOfView(view));

/** Whether an address names a view and nothing else. */
export const isBare = (search: InventorySearch): boolean => stored(search) === '[]';

/** Writes of views; lists of them are read again. */
export function useViewWrites() {
  const client = useQueryClient();
  const onSuccess = () => client.invalidateQueries({ queryKey: ['views'] });
  return {
    create: useMutation({ mutationFn: (body: ViewBody) => call(createBookmark({ body })), onSuccess }),
    change: useMutation({
      mutationFn: ({ id, ...body }: Partial<ViewBody> & { id: string }) =>
        call(patchBookmark({ path: { bm_id: id }, body })),
      onSuccess,
    }),
    remove: useMutation({
      mutationFn: (id: string) => call(deleteBookmark({ path: { bm_id: id } })),
      onSuccess,
    }),
  };
}
