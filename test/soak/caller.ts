import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Send } from '../support/processes.ts';

const PAUSE_MS = 200;
const PATIENCE_MS = 120_000;

/**
 * Sends until there is an answer, as a careful client does: a write under one and the same Idempotency-Key, so
 * that it is executed once however often it is sent.
 * @returns undefined when the outcome of a write is unknown: executed once or not at all.
 */
export async function insist(send: Send, method: string, path: string, body?: unknown) {
  const repeatable = method !== 'DELETE';
  const headers: Record<string, string> =
    method === 'POST' || method === 'PATCH' ? { 'idempotency-key': randomUUID() } : {};
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await send(method, path, body, headers).catch(() => undefined);
    if (answer?.body?.code === 'idempotency_in_progress') return undefined;
    if (answer && answer.status !== 503) return answer;
    if (!repeatable) return undefined;
    if (Date.now() > deadline) throw new Error(`${method} ${path} was not answered for ${PATIENCE_MS} ms`);
    await delay(PAUSE_MS);
  }
}
