import { useComputedColorScheme } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '#client';

type Params = Record<string, string | number | boolean | undefined>;

/** The address of a report with its parameters. */
export function reportUrl(name: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') query.set(key, String(value));
  }
  return `/api/v1/reports/${name}?${query}`;
}

/** Fetches a report in one of its media types. @throws ApiError if it is refused. */
export async function fetchReport(url: string, accept: string, signal?: AbortSignal): Promise<Blob> {
  const response = await fetch(url, {
    headers: { accept, 'X-Estate-Client': 'web' },
    signal: signal ?? null,
  });
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})));
  return await response.blob();
}

/** The picture of a report in the colours of the page, as the address of an image. */
export function useReportPicture(name: string, params: Params, width: number) {
  const theme = useComputedColorScheme('light');
  const url = reportUrl(name, { ...params, theme, width });
  const { data, error, isPlaceholderData, isPending } = useQuery({
    queryKey: ['reports', url],
    queryFn: ({ signal }) => fetchReport(url, 'image/svg+xml', signal),
    placeholderData: keepPreviousData,
  });
  const [src, setSrc] = useState<string>();
  useEffect(() => {
    if (!data) return;
    const address = URL.createObjectURL(data);
    setSrc(address);
    return () => URL.revokeObjectURL(address);
  }, [data]);
  return { src, error, isLoading: isPending || isPlaceholderData };
}
