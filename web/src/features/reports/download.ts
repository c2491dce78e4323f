import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { waitForJob } from '#client';
import { saveFile } from '../../kit/download.ts';
import { useTexts } from '../../kit/messages.tsx';
import { fetchReport, type Params, reportUrl } from '../../kit/reports.ts';

const formats = [
  { accept: 'image/svg+xml', extension: 'svg' },
  { accept: 'image/png', extension: 'png' },
  { accept: 'application/pdf', extension: 'pdf' },
  {
    accept: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    extension: 'pptx',
  },
  { accept: 'text/csv', extension: 'csv' },
  { accept: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', extension: 'xlsx' },
];

/** How long a download may take before a job writes it instead, in milliseconds. */
const PATIENCE = 15_000;

/** Downloads a report in one of its formats; a job writes what takes long. */
export function useDownload(name: string, params: Params, day: string | undefined) {
  const t = useTexts();
  const [isBusy, setBusy] = useState(false);
  const url = reportUrl(name, { ...params, ...(day && { as_of: `${day}T23:59:59Z` }) });
  const start = async (accept: string, extension: string) => {
    setBusy(true);
    try {
      const file = await fetchPatiently(url, accept, () =>
        notifications.show({ message: t('reports.asJob') }),
      );
      saveFile(`${name.replaceAll('/', '-')}.${extension}`, file);
    } catch (error) {
      notifications.show({ color: 'red', message: (error as Error).message });
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, formats, start };
}

/**
 * A file of a report; a job writes what takes longer than {@link PATIENCE}.
 * @param onJob is called when the job has been started.
 * @throws ApiError if it is refused, or the job has failed.
 */
async function fetchPatiently(url: string, accept: string, onJob: () => void): Promise<Blob> {
  const stopped = new AbortController();
  const timer = setTimeout(() => stopped.abort(), PATIENCE);
  try {
    return await fetchReport(url, accept, stopped.signal);
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  const answer = await fetchReport(url, accept, undefined, { prefer: 'respond-async' });
  const { job_id } = JSON.parse(await answer.text()) as { job_id: string };
  onJob();
  await waitForJob(job_id);
  return await fetchReport(`/api/v1/jobs/${job_id}/result`, '*/*');
}
