import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import {
  call,
  createSavedReport,
  deleteSavedReport,
  listSavedReports,
  patchSavedReport,
  readSavedReport,
  type SavedReport,
} from '#client';
import type { Params } from './reports.ts';

/** An address within the application: its path, and what it says. */
export interface SavedView {
  path: string;
  search: Record<string, unknown>;
}

/** A tile of a dashboard: a report with its parameters. */
export interface Tile extends SavedView {
  title: string;
  /** Columns of four. */
  width: 1 | 2 | 4;
}

type Type = SavedReport['report_type'];
type Input = Parameters<typeof createSavedReport>[0]['body'];

/** The kind under which a view is saved. */
export function savedTypeOf(path: string): Type {
  if (path === '/map') return 'capability-map';
  if (path === '/explorer') return 'dependencies';
  if (path === '/query') return 'query';
  return path.replace('/reports/', '').replace('/', '-') as Type;
}

/** Where a saved view leads; undefined for one that other programs saved. */
export function viewOf({ config }: Pick<SavedReport, 'config'>): SavedView | undefined {
  const { path, search } = config as Partial<SavedView>;
  return typeof path === 'string' && /^\/(?!\/)/.test(path) ? { path, search: search ?? {} } : undefined;
}

/** The report whose picture stands for a view of another page; undefined without one. */
export function reportOf({ path, search }: SavedView): { name: string; params: Params } | undefined {
  if (path.startsWith('/reports/')) {
    const { hide: _hide, as_of: _at, compare: _compare, view: _view, ...params } = search;
    return { name: path.slice('/reports/'.length), params: params as Params };
  }
  const { center, depth, root } = search as Params;
  if (path === '/explorer' && center)
    return { name: 'dependencies', params: { center_id: center, depth: depth ?? 1, bundle: 12 } };
  // the report has applications in business capabilities, coloured by how well they fit
  const { boxes = 'BusinessCapability', inside = 'Application', colour, filter } = search as Params;
  if (path !== '/map' || boxes !== 'BusinessCapability' || inside !== 'Application' || colour)
    return undefined;
  return { name: 'capability-heatmap', params: { roll_up: true, scope: root, filter } };
}

/** The tiles of a dashboard; what is not understood is left out. */
export function tilesOf({ config }: Pick<SavedReport, 'config'>): Tile[] {
  const { tiles } = config as { tiles?: unknown };
  if (!Array.isArray(tiles)) return [];
  return tiles.filter(
    (one): one is Tile =>
      typeof one?.path === 'string' && /^\/(?!\/)/.test(one.path) && typeof one.title === 'string',
  );
}

/** The largest page of a list. */
const PAGE = 200;

export const savedReportsQuery = (filter: 'all' | 'my' | 'shared' | 'public' = 'all', type?: Type) =>
  queryOptions({
    queryKey: ['saved-reports', filter, type],
    queryFn: async ({ signal }) =>
      (
        await call(
          listSavedReports({
            signal,
            query: { filter: filter as never, page_size: PAGE, ...(type && { report_type: type }) },
          }),
        )
      ).items as SavedReport[],
  });

export const savedReportQuery = (id: string) =>
  queryOptions({
    queryKey: ['saved-reports', id],
    queryFn: ({ signal }) => call(readSavedReport({ signal, path: { report_id: id } })),
  });

/** Creates, changes and deletes saved reports; lists of them are read again. */
export function useSavedReports() {
  const client = useQueryClient();
  const onSuccess = () => client.invalidateQueries({ queryKey: ['saved-reports'] });
  return {
    create: useMutation({ mutationFn: (body: Input) => call(createSavedReport({ body })), onSuccess }),
    change: useMutation({
      mutationFn: ({ id, ...body }: { id: string } & Partial<Omit<Input, 'report_type'>>) =>
        call(patchSavedReport({ path: { report_id: id }, body })),
      onSuccess,
    }),
    remove: useMutation({
      mutationFn: (id: string) => call(deleteSavedReport({ path: { report_id: id } })),
      onSuccess,
    }),
  };
}
