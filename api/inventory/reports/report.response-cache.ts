import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../../domain/kernel/context.ts';
import type { AnswerName, ReportRunner } from '../../../reports/kernel/report.runner.ts';
import type { Report } from '../../../reports/kernel/report.ts';

/** What one caller was answered at one address. */
interface Kept {
  name: AnswerName;
  /** What the report says of the caller and the day: the one thing that changes while no topic does. */
  variant: string;
  etag: string;
}

/** Bytes of the addresses that are remembered for one state of the landscape, and of what is known of each. */
const REMEMBERED_BYTES = 4 * 1024 * 1024;
const KNOWN_BYTES = 500;

/** What `Accept` may say for JSON to be the answer. */
const forJson = new Set([undefined, '*/*', 'application/json']);

/** What a client may send that asks for something else than the answer under the same headers. */
const special = ['origin', 'prefer'] as const;

/** What goes with every such answer, whether it is sent or known. */
const same = ['x-content-type-options', 'nosniff', 'vary', 'Accept', 'cache-control', 'private, no-cache'];

/**
 * Answers that are given again. A report asked for at the same address by the same caller (the very same: the session
 * yields another one as soon as anything about the user or the token has changed) while no topic has another version is
 * the report given before: it is sent before query, filter and name are gone into, which is most of what a kept
 * answer costs. The right to it has been checked, and the versions read, for this very request.
 */
export class ResponseCache {
  readonly #runner: ReportRunner;
  #topics: FastifyRequest['topics'] | undefined;
  #callers = new WeakMap<Caller, Map<string, Kept>>();
  #bytes = 0;

  constructor(runner: ReportRunner) {
    this.#runner = runner;
  }

  /** Remembers a JSON answer that follows from caller, address and topics alone. */
  note({ ctx, topics, url }: FastifyRequest, report: Report, name: AnswerName, etag: string): void {
    if (this.#topics !== topics || this.#bytes >= REMEMBERED_BYTES) {
      this.#topics = topics;
      this.#callers = new WeakMap();
      this.#bytes = 0;
    }
    let addresses = this.#callers.get(ctx.caller);
    if (!addresses) {
      addresses = new Map();
      this.#callers.set(ctx.caller, addresses);
    }
    if (addresses.has(url)) return;
    this.#bytes += 2 * url.length + KNOWN_BYTES;
    addresses.set(url, { name, variant: report.variant(ctx), etag });
  }

  /** @returns whether the request has been answered. */
  give(request: FastifyRequest, reply: FastifyReply, report: Report): boolean {
    const { ctx, headers } = request;
    if (request.topics !== this.#topics || request.method !== 'GET' || !forJson.has(headers.accept))
      return false;
    if (special.some((name) => headers[name] !== undefined)) return false;
    const kept = this.#callers.get(ctx.caller)?.get(request.url);
    if (!kept || kept.variant !== report.variant(ctx)) return false;
    const about = [...same, 'etag', kept.etag, 'x-request-id', request.id];
    const known = headers['if-none-match'];
    if (known !== undefined) {
      // several, weak ones and none that fits are looked at where all requests are
      if (known !== kept.etag) return false;
      reply.hijack();
      reply.raw.writeHead(304, about).end();
      return true;
    }
    const body = this.#runner.again(kept.name, report);
    if (!body) return false;
    reply.hijack();
    about.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length));
    reply.raw.writeHead(200, about).end(body);
    return true;
  }
}
