import { useComputedColorScheme } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { fetchReport, type Params, reportUrl } from '../../kit/reports.ts';

/** The picture of a report in the colours of the page, as the address of an image. */
export function useReportPicture(name: string, params: Params, width: number, isWanted = true) {
  const theme = useComputedColorScheme('light');
  const url = reportUrl(name, { ...params, theme, width });
  const { data, error, isPlaceholderData, isPending } = useQuery({
    queryKey: ['reports', url],
    queryFn: ({ signal }) => fetchReport(url, 'image/svg+xml', signal),
    placeholderData: keepPreviousData,
    enabled: isWanted,
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
