import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export interface Answer {
  status: number;
  /** The feed position of a write. */
  position: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  body: any;
  bytes: Buffer;
}

/** What is sent: JSON, or a text with its media type. */
export type Content = { json: unknown } | { text: string; type: string };

/** Sends one request; rejects when there is no answer. Paths begin after `/api/v1`. */
export type Send = (
  method: string,
  path: string,
  content?: Content,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** Sends to a service at an address, with the headers of a login. */
export function sendTo(url: string, login: Record<string, string>): Send {
  return async (method, path, content, headers = {}) => {
    const type = content && ('json' in content ? 'application/json' : content.type);
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...login,
        ...(type ? { 'content-type': type } : {}),
        ...headers,
      },
      ...(content ? { body: 'json' in content ? JSON.stringify(content.json) : content.text } : {}),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const json = /json/.test(response.headers.get('content-type') ?? '') && bytes.length > 0;
    const position = response.headers.get('x-position');
    return {
      status: response.status,
      position: position === null ? undefined : Number(position),
      body:
        json && !/ndjson/.test(response.headers.get('content-type')!) ? JSON.parse(String(bytes)) : undefined,
      bytes,
    };
  };
}

const PAUSE_MS = 200;
const PATIENCE_MS = 120_000;

/**
 * Sends until there is an answer, as a careful client does: a write under one and the same Idempotency-Key, so
 * that it is executed once however often it is sent.
 * @returns undefined when the outcome of a write is unknown: executed once or not at all.
 */
export async function insist(
  send: Send,
  method: string,
  path: string,
  content?: Content,
): Promise<Answer | undefined> {
  const repeatable = method !== 'DELETE';
  const headers: Record<string, string> =
    method === 'POST' || method === 'PATCH' ? { 'idempotency-key': randomUUID() } : {};
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await send(method, path, content, headers).catch(() => undefined);
    if (answer?.body?.code === 'idempotency_in_progress') return undefined;
    if (answer && answer.status !== 503) return answer;
    if (!repeatable) return undefined;
    if (Date.now() > deadline) throw new Error(`${method} ${path} was not answered for ${PATIENCE_MS} ms`);
    await delay(PAUSE_MS);
  }
}
