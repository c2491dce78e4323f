import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** A logged-in caller. Paths begin after `/api/v1`. Responses that are not 2xx throw with their text. */
export interface Api {
  url: string;
  headers: Record<string, string>;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  /** The response to a JSON body, not read yet. */
  send(method: string, path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The response, not read yet. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** What the bench looks at in a job. */
export interface Job {
  id: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  counts: Record<string, number> | null;
  error: unknown;
}

const POLL_MS = 10;

/** A caller at one API process, with the headers of a login. */
export function apiAt(url: string, headers: Record<string, string>): Api {
  const request = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      ...init,
      // measures the service, not zlib
      headers: { 'accept-encoding': 'identity', ...headers, ...init.headers },
    });
    if (!response.ok)
      throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const send: Api['send'] = (method, path, body, more) =>
    request(path, {
      method,
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    });
  return {
    url,
    headers,
    send,
    fetch: request,
    get: async <T>(path: string) => (await (await request(path)).json()) as T,
    post: async <T>(path: string, body: unknown) => (await (await send('POST', path, body)).json()) as T,
    patch: async <T>(path: string, body: unknown) => (await (await send('PATCH', path, body)).json()) as T,
  };
}

/** Waits until a job has ended, and returns it. @throws Error when it has not succeeded. */
export async function untilDone(api: Api, jobId: string): Promise<Job> {
  for (;;) {
    const job = await api.get<Job>(`/jobs/${jobId}`);
    if (job.status === 'succeeded') return job;
    if (job.status === 'failed' || job.status === 'cancelled')
      throw new Error(`Job ${jobId} ${job.status}: ${JSON.stringify(job.error)}`);
    await delay(POLL_MS);
  }
}

/** What a request that starts a job returns. */
export interface Started {
  job_id: string;
  /** Of an analysis. */
  run_id: string;
  /** Of a synchronisation run. */
  id: string;
}

/** Starts a job by a request and waits for its end. */
export async function runJob(api: Api, path: string, body: object = {}) {
  const start = performance.now();
  const started = await api.post<Started>(path, body);
  const job = await untilDone(api, started.job_id);
  return { seconds: (performance.now() - start) / 1_000, job, started };
}

/** Sends CSV to the import and waits for the job's end. @throws Error when a row failed. */
export async function importCsv(api: Api, kind: 'cards' | 'relations', body: RequestInit['body']) {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body,
    duplex: 'half',
  } as RequestInit;
  const response = await api.fetch(`/imports?kind=${kind}&mode=create`, init);
  const job = await untilDone(api, ((await response.json()) as Started).job_id);
  if (job.counts?.failed) throw new Error(`The import of ${kind} left ${job.counts.failed} rows out.`);
  return job;
}

export const importFile = (api: Api, kind: 'cards' | 'relations', file: string): Promise<Job> =>
  importCsv(api, kind, Readable.toWeb(createReadStream(file)) as ReadableStream);

/** What a downloaded file holds. */
export type Downloaded = { bytes: number; lineBreaks: number };

/** Reads a response to its end as a client would. */
export async function drain({ body }: Response): Promise<Downloaded> {
  const seen: Downloaded = { bytes: 0, lineBreaks: 0 };
  for await (const chunk of body!) {
    seen.bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen.lineBreaks += 1;
  }
  return seen;
}

/** An export job of all cards, or of those of some types, from the request to the last byte of the file. */
export async function exportByJob(
  api: Api,
  format: 'csv' | 'xlsx' | 'ndjson' | 'parquet',
  more: { types?: string[]; kind?: 'relations'; profile?: 'roundtrip'; layout?: 'sheet_per_type' } = {},
): Promise<Downloaded> {
  const { started } = await runJob(api, '/exports', { format, kind: 'cards', ...more });
  return await drain(await api.fetch(`/jobs/${started.job_id}/result`));
}
