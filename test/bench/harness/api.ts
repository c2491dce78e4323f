import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** A logged-in caller. Paths begin after `/api/v1`. Answers that are not 2xx throw with their text. */
export interface Api {
  url: string;
  token: string;
  headers: Record<string, string>;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  /** The raw answer, its body not read yet. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** What the bench looks at in a job. */
export interface Job {
  id: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  counts: Record<string, number> | null;
  error: unknown;
}

const JSON_BODY = { 'content-type': 'application/json' };
const POLL_MS = 20;

function apiOf(url: string, token: string): Api {
  const headers = { authorization: `Bearer ${token}` };
  const request = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${url}/api/v1${path}`, { ...init, headers: { ...headers, ...init.headers } });
    if (!answer.ok) {
      throw new Error(`${init.method ?? 'GET'} ${path} answered ${answer.status}: ${await answer.text()}`);
    }
    return answer;
  };
  const send = async <T>(method: string, path: string, body: unknown): Promise<T> => {
    const answer = await request(path, { method, headers: JSON_BODY, body: JSON.stringify(body) });
    return (await answer.json()) as T;
  };
  return {
    url,
    token,
    headers,
    get: async <T>(path: string) => (await (await request(path)).json()) as T,
    post: (path, body) => send('POST', path, body),
    patch: (path, body) => send('PATCH', path, body),
    fetch: request,
  };
}

/** Logs in and keeps the token for all further requests. */
export async function login(url: string, credentials: { email: string; password: string }): Promise<Api> {
  const answer = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: JSON_BODY,
    body: JSON.stringify(credentials),
  });
  if (!answer.ok) throw new Error(`The login answered ${answer.status}: ${await answer.text()}`);
  const { access_token } = (await answer.json()) as { access_token: string };
  return apiOf(url, access_token);
}

/** The same caller at another API process of the same service. */
export const at = (api: Api, url: string): Api => apiOf(url, api.token);

/** Waits until a job has ended, and returns it; throws when it has not succeeded. */
export async function untilDone(api: Api, jobId: string): Promise<Job> {
  for (;;) {
    const job = await api.get<Job>(`/jobs/${jobId}`);
    if (job.status === 'succeeded') return job;
    if (job.status === 'failed' || job.status === 'cancelled') {
      throw new Error(`Job ${jobId} ${job.status}: ${JSON.stringify(job.error)}`);
    }
    await delay(POLL_MS);
  }
}

/** Sends CSV to the import and waits for the job's end. @throws Error when a row failed. */
export async function importCsv(
  api: Api,
  kind: 'cards' | 'relations',
  body: RequestInit['body'],
): Promise<Job> {
  const headers = { 'content-type': 'text/csv' };
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
  const answer = await api.fetch(`/imports?kind=${kind}&mode=create`, init);
  const { job_id } = (await answer.json()) as { job_id: string };
  const job = await untilDone(api, job_id);
  if (job.counts?.failed) throw new Error(`The import of ${kind} left ${job.counts.failed} rows out.`);
  return job;
}

export const importFile = (api: Api, kind: 'cards' | 'relations', file: string): Promise<Job> =>
  importCsv(api, kind, Readable.toWeb(createReadStream(file)) as ReadableStream);
