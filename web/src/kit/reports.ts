import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiError } from '#client';
import type { Chart } from '../../../reports/kernel/charts/charts.types.ts';
import { useLanguage } from './messages.tsx';
import type { InventoryQuery } from './query.ts';

export type Params = Record<string, string | number | boolean | undefined>;

/** The address of a report with its parameters. */
export function reportUrl(name: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') query.set(key, String(value));
  }
  return `/api/v1/reports/${name}?${query}`;
}

/** Fetches a report in one of its media types. @throws ApiError if it is refused. */
export async function fetchReport(
  url: string,
  accept: string,
  signal?: AbortSignal,
  { prefer, body }: { prefer?: string; body?: unknown } = {},
): Promise<Blob> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept,
      'accept-language': document.documentElement.lang,
      'X-Estate-Client': 'web',
      ...(prefer && { prefer }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  });
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})));
  return await response.blob();
}

const CHART = 'application/vnd.estate.chart+json';

/** The data of the picture of a report, as of the end of a day; without an address nothing is read. */
export function useChart(url: string | undefined) {
  const { language } = useLanguage();
  return useQuery({
    queryKey: ['reports', 'chart', url, language],
    queryFn: async ({ signal }): Promise<Chart> =>
      JSON.parse(await (await fetchReport(url!, CHART, signal)).text()),
    placeholderData: keepPreviousData,
    enabled: url !== undefined,
  });
}

/** The data of the picture of a query. */
export function useQueryChart(query: InventoryQuery | undefined) {
  const { language } = useLanguage();
  return useQuery({
    queryKey: ['reports', 'query', 'chart', query, language],
    queryFn: async ({ signal }): Promise<Chart> =>
      JSON.parse(await (await fetchReport('/api/v1/reports/query', CHART, signal, { body: query })).text()),
    placeholderData: keepPreviousData,
    enabled: query !== undefined,
    retry: false,
  });
}
