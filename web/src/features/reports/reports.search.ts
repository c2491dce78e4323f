import type { Params } from '../../kit/reports.ts';

/** What the address of a report says besides its own parameters. */
export type ReportSearch = ReturnType<typeof readReportSearch>;

const ofPage = new Set(['view', 'sort', 'as_of', 'compare', 'time', 'saved', 'hide', 'tab']);

/** The parameters that the service gets. */
export const ownParams = (search: object): Params =>
  Object.fromEntries(
    Object.entries(search).filter(([key, value]) => !ofPage.has(key) && typeof value !== 'object'),
  );

const day = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined;

/** Reads the address; what is not understood is left out. */
export function readReportSearch(search: Record<string, unknown>) {
  const hide = Array.isArray(search.hide) ? search.hide.filter((one) => typeof one === 'string') : [];
  return {
    ...ownParams(search),
    view: search.view === 'table' ? ('table' as const) : undefined,
    sort:
      typeof search.sort === 'string' || typeof search.sort === 'number' ? String(search.sort) : undefined,
    as_of: day(search.as_of),
    compare: day(search.compare),
    time: search.time === true || search.time === 'true',
    saved: typeof search.saved === 'string' ? search.saved : undefined,
    hide: hide.length > 0 ? (hide as string[]) : undefined,
  };
}
