import type { Api, Job } from './api.ts';
import { sampleMemory } from './memory.ts';
import { median } from './stats.ts';

export interface Downloaded {
  bytes: number;
  lineBreaks: number;
}

/** Reads an answer to its end as a client would. */
export async function drain(answer: Response): Promise<Downloaded> {
  const seen: Downloaded = { bytes: 0, lineBreaks: 0 };
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    seen.bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen.lineBreaks += 1;
  }
  return seen;
}

/** Reads the stream of events until it tells that a job has ended; throws when it has not succeeded. */
async function untilTold(stream: Response, jobId: string): Promise<void> {
  const text = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  let rest = '';
  for await (const part of text) {
    const lines = (rest + part).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      const { job_id, status } = JSON.parse(line.slice(6)) as { job_id: string; status: Job['status'] };
      if (job_id !== jobId || status === 'queued' || status === 'running') continue;
      if (status === 'succeeded') return;
      throw new Error(`Job ${jobId} ${status}`);
    }
  }
  throw new Error('The stream of events has ended.');
}

/** An export job of all cards, or of those of some types, from the request to the last byte of the downloaded file; its end is told, not asked for. */
export async function exportByJob(
  api: Api,
  format: 'csv' | 'xlsx' | 'ndjson' | 'parquet',
  narrowed: { types?: string[] } = {},
): Promise<Downloaded> {
  const leaving = new AbortController();
  const stream = await api.fetch('/events/stream?events=job.updated', { signal: leaving.signal });
  const { job_id } = await api.post<{ job_id: string }>('/exports', {
    format,
    kind: 'cards',
    ...narrowed,
  });
  await untilTold(stream, job_id).finally(() => leaving.abort());
  return await drain(await api.fetch(`/jobs/${job_id}/result`));
}

export interface Measured {
  /** Median of the rounds, in milliseconds. */
  ms: number;
  /** The most by which the process grew over all rounds, in bytes. */
  growthBytes: number;
}

/** Does the same work several times and watches the process that does it. */
export async function measureWork(pid: number, rounds: number, work: () => Promise<void>): Promise<Measured> {
  const memory = sampleMemory([pid]);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return { ms: median(times), growthBytes: memory.stop().growthBytes };
}
