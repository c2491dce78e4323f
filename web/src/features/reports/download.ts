import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useTexts } from '../../kit/messages.tsx';
import { fetchReport, type Params, reportUrl } from '../../kit/reports.ts';

const formats = [
  { accept: 'image/svg+xml', extension: 'svg' },
  { accept: 'image/png', extension: 'png' },
  { accept: 'text/csv', extension: 'csv' },
  { accept: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', extension: 'xlsx' },
];

/** How long a download may take before a job writes it instead, in milliseconds. */
const PATIENCE = 15_000;

interface Job {
  job_id: string;
}

/** Downloads a report in one of its formats; a job writes what takes long. */
export function useDownload(name: string, params: Params, day: string | undefined) {
  const t = useTexts();
  const [isBusy, setBusy] = useState(false);
  const url = reportUrl(name, { ...params, ...(day && { as_of: `${day}T23:59:59Z` }) });
  const start = async (accept: string, extension: string) => {
    setBusy(true);
    const stopped = new AbortController();
    const timer = setTimeout(() => stopped.abort(), PATIENCE);
    try {
      keep(await fetchReport(url, accept, stopped.signal), `${name.replaceAll('/', '-')}.${extension}`);
    } catch (error) {
      if (!stopped.signal.aborted) {
        notifications.show({ color: 'red', message: (error as Error).message });
        return;
      }
      const answer = await fetchReport(url, accept, undefined, { prefer: 'respond-async' });
      const { job_id } = JSON.parse(await answer.text()) as Job;
      notifications.show({ message: t('reports.asJob') });
      await waitFor(job_id);
      keep(
        await fetchReport(`/api/v1/jobs/${job_id}/result`, '*/*'),
        `${name.replaceAll('/', '-')}.${extension}`,
      );
    } finally {
      clearTimeout(timer);
      setBusy(false);
    }
  };
  return { isBusy, formats, start };
}

/** Gives a file to the browser. */
function keep(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

/** Waits until a job has ended. @throws Error if it failed. */
async function waitFor(id: string): Promise<void> {
  for (;;) {
    const job = JSON.parse(await (await fetchReport(`/api/v1/jobs/${id}`, 'application/json')).text());
    if (job.status === 'succeeded') return;
    if (job.status === 'failed' || job.status === 'cancelled')
      throw new Error(job.error?.message ?? job.status);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
