import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../../domain/kernel/context.ts';
import type { ReportKey, ReportRunner } from '../../../reports/kernel/report.runner.ts';
import { type Report, variantOf } from '../../../reports/kernel/report.ts';
import { acceptedEncoding, COMPRESSED_FROM } from '../../plugins/compression.ts';
import { deprecationHeaders } from '../../plugins/deprecations.ts';
import { REPORT_VARY } from './report.file.ts';

/** A cached response of one caller and URL. */
interface CacheEntry {
  key: ReportKey;
  /** The report's variant, which depends on the caller and the day and can change without a topic. */
  variant: string;
  etag: string;
  /** Headers about deprecated parts that the request names, as names and values. */
  deprecations: string[];
}

/** Maximum bytes of all entries for one set of topic versions, and estimated bytes of one entry besides its URL. */
const MAX_BYTES = 4 * 1024 * 1024;
const ENTRY_BYTES = 500;

/** Values of `Accept` that select JSON. */
const jsonAccepts = new Set([undefined, '*/*', 'application/json']);

/** Request headers that change the response, so that the cache is not used. */
const bypassHeaders = ['origin', 'prefer'] as const;

/** Headers of every cached response, 200 and 304. */
const commonHeaders = [
  'x-content-type-options',
  'nosniff',
  'vary',
  REPORT_VARY,
  'cache-control',
  'private, no-cache',
];

/**
 * Caches JSON reports by caller object, URL and topic versions, so that a hit needs no parsing of the query and filter.
 * The session returns another caller object when anything changes about the user or the token changes. Permission check and topic
 * versions are those of the current request.
 */
export class ResponseCache {
  readonly #runner: ReportRunner;
  #topics: FastifyRequest['topics'] | undefined;
  #callers = new WeakMap<Caller, Map<string, CacheEntry>>();
  #bytes = 0;

  constructor(runner: ReportRunner) {
    this.#runner = runner;
  }

  /** Stores a JSON response that only depends on caller, URL and topics. */
  store(request: FastifyRequest, report: Report, key: ReportKey, etag: string): void {
    const { ctx, topics, url } = request;
    if (this.#topics !== topics || this.#bytes >= MAX_BYTES) {
      this.#topics = topics;
      this.#callers = new WeakMap();
      this.#bytes = 0;
    }
    let entries = this.#callers.get(ctx.caller);
    if (!entries) {
      entries = new Map();
      this.#callers.set(ctx.caller, entries);
    }
    if (entries.has(url)) return;
    this.#bytes += 2 * url.length + ENTRY_BYTES;
    const deprecations = Object.entries(deprecationHeaders(request)).flat();
    entries.set(url, { key, variant: variantOf(report, ctx), etag, deprecations });
  }

  /** Sends the cached response, if any. @returns whether it was sent. */
  trySend(request: FastifyRequest, reply: FastifyReply, report: Report): boolean {
    const { ctx, headers } = request;
    if (request.topics !== this.#topics || request.method !== 'GET' || !jsonAccepts.has(headers.accept))
      return false;
    if (bypassHeaders.some((name) => headers[name] !== undefined) || reply.hasHeader('set-cookie'))
      return false;
    const entry = this.#callers.get(ctx.caller)?.get(request.url);
    if (!entry || entry.variant !== variantOf(report, ctx)) return false;
    const responseHeaders = [
      ...commonHeaders,
      ...entry.deprecations,
      'etag',
      entry.etag,
      'x-request-id',
      request.id,
    ];
    const ifNoneMatch = headers['if-none-match'];
    if (ifNoneMatch !== undefined) {
      // lists, weak ETags and mismatches are handled by the regular path
      if (ifNoneMatch !== entry.etag) return false;
      reply.hijack();
      reply.raw.writeHead(304, responseHeaders).end();
      return true;
    }
    let body = this.#runner.readCached(entry.key, report);
    if (!body) return false;
    const encoding = body.length < COMPRESSED_FROM ? undefined : acceptedEncoding(request);
    if (encoding !== undefined) {
      body = this.#runner.compressed(entry.key, encoding);
      if (!body) return false;
      responseHeaders.push('content-encoding', encoding);
    }
    reply.hijack();
    responseHeaders.push(
      'content-type',
      'application/json; charset=utf-8',
      'content-length',
      String(body.length),
    );
    reply.raw.writeHead(200, responseHeaders).end(body);
    return true;
  }
}
