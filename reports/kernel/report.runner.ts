import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Knex } from 'knex';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { Cache } from '../../platform/cache.ts';
import { sha256 } from '../../platform/crypto.ts';
import { embed, query, withHeartbeat } from '../../platform/database.ts';
import { createLru, type Lru } from '../../platform/lru.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { computeReport } from './report.compute.ts';
import { createShared } from './report.shared.ts';
import { dependsOn, type Report, type ReportRequest, variantOf } from './report.ts';

/** Counters of one report since the process started. */
export interface ReportFigure {
  report: string;
  /** Responses from the cache with the current state. */
  hits: number;
  /** Stale responses within `max_staleness`. */
  stale: number;
  /** Requests that shared a concurrent computation. */
  waits: number;
  /** Computations. */
  computed: number;
  /** Total seconds of computation. */
  seconds: number;
  /** Age of the last stale response, in seconds. */
  age: number;
}

/** Counts for the metrics of this process. */
export class ReportFigures {
  readonly #figures = new Map<string, ReportFigure>();

  /** The counts of one report, which start at 0. */
  of(report: string): ReportFigure {
    let figure = this.#figures.get(report);
    if (!figure) {
      figure = { report, hits: 0, stale: 0, waits: 0, computed: 0, seconds: 0, age: 0 };
      this.#figures.set(report, figure);
    }
    return figure;
  }

  all(): ReportFigure[] {
    return [...this.#figures.values()];
  }
}

/** Identifies the JSON of a report for one request and state of the inventory. */
export interface ReportKey {
  /** Report name and hash of the request; the same for every state of the inventory. */
  request: string;
  cacheKey: string;
  /** ETag without quotes and without the suffix of the format. */
  tag: string;
}

interface ReportResult {
  /** JSON in UTF-8. */
  body: Buffer;
  key: ReportKey;
  /** Seconds since it was computed, if it may be older than the newest change. */
  age?: number;
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);

const CACHE_SECONDS = 24 * 60 * 60;
/** Larger results are not stored in a cache of this process alone, since they would evict many others. */
const MAX_UNSHARED_BYTES = 4 * 1024 * 1024;
/** Maximum time to wait for another process that computes the same report. */
const LOCK_TIMEOUT = '10min';
/** Maximum number of concurrent locks: each occupies a connection while the computation needs another one. */
const MAX_LOCKS = 4;
/** Maximum number of concurrent computations of paged reports: of a page, and of all rows, each of which occupies memory. */
const MAX_PAGED = { page: 2, all: 1 };
/** Results cached in this process, so that a repeated request needs no round trip. */
const CACHED_BYTES = 64 * 1024 * 1024;
/** Larger results are cached in the form that clients of gzip get: a few of them would fill the cache. */
const PLAIN_UP_TO = 1024 * 1024;
/** Maximum bytes of the cached keys for one set of topic versions, and bytes of one key. */
const KEY_LRU = { bytes: 4 * 1024 * 1024, each: 500 };

/** Topics on which any filter can depend: cards, relations, and the names that a filter uses. */
const filterTopics = /^(cards:|relations:|metamodel$|users$|roles$|catalogues$)/;

/**
 * Computes and caches reports. The last result of each request is stored with the versions of all topics on which it
 * depends, and returned while these are the current versions. Of concurrent requests in all processes, one computes the
 * report and the others wait.
 */
export class ReportRunner {
  readonly figures = new ReportFigures();
  readonly #cache: Cache;
  /** Whether the cache is shared with other processes. */
  readonly #shared: boolean;
  readonly #cached = createLru<Buffer>(CACHED_BYTES, (body) => body.length);
  readonly #withSemaphore = createSemaphore(MAX_LOCKS);
  readonly #ofPage = createSemaphore(MAX_PAGED.page);
  readonly #ofAll = createSemaphore(MAX_PAGED.all);
  readonly #share = createShared();
  /** By the map of topic versions, which is the same object until a version changes. */
  readonly #keys = new WeakMap<ReadonlyMap<string, number>, Lru<ReportKey>>();

  constructor(cache: Cache, shared: boolean) {
    this.#cache = cache;
    this.#shared = shared;
  }

  /**
   * Returns the key of the result without computing it.
   * @param topics the topic versions, read after the request arrived: the result is at least as new.
   */
  keyFor(ctx: Ctx, topics: ReadonlyMap<string, number>, request: ReportRequest): ReportKey {
    let known = this.#keys.get(topics);
    if (!known) {
      known = createLru(KEY_LRU.bytes, () => KEY_LRU.each);
      this.#keys.set(topics, known);
    }
    const { report, params, cards, asOf, range, forPicture } = request;
    const parts = [report.name, variantOf(report, ctx), params, cards, asOf, range, forPicture];
    const asked = JSON.stringify(parts);
    let key = known.get(asked);
    if (!key) {
      const stamp = [...topics]
        .filter(([topic]) => isAffected(request, topic))
        .map(([topic, version]) => `${topic}=${version}`)
        .sort();
      const tag = sha256(JSON.stringify([asked, stamp])).slice(0, 40);
      const hash = sha256(asked).slice(0, 40);
      key = { request: `${report.name}:${hash}`, cacheKey: cacheKeyOf(report, tag), tag };
      known.set(asked, key);
    }
    return key;
  }

  /** Returns the report. @param maxStaleness seconds: a stale result of at most this age is accepted. */
  async run(ctx: Ctx, key: ReportKey, request: ReportRequest, maxStaleness = 0): Promise<ReportResult> {
    const { report } = request;
    if (!report.topics) return await this.#computeFor(ctx, key, request);
    const known = this.readCached(key, report);
    if (known !== undefined) return { body: known, key };
    if (maxStaleness > 0) {
      const old = await this.#earlier(key, request, maxStaleness);
      if (old) {
        const figure = this.figures.of(report.name);
        figure.stale += 1;
        figure.age = old.age ?? 0;
        return old;
      }
    }
    let isShared = true;
    const work = this.#share(key.cacheKey, async () => {
      isShared = false;
      const packed = this.#cached.get(`${key.cacheKey}:gzip`);
      if (packed) {
        this.figures.of(report.name).hits += 1;
        return await unpack(packed);
      }
      const body = await this.#computeOnce(ctx, key, request);
      if (body.length <= PLAIN_UP_TO) this.#cached.set(key.cacheKey, body);
      else this.#cached.set(`${key.cacheKey}:gzip`, await pack(body, { level: 1 }));
      return body;
    });
    if (isShared) this.figures.of(report.name).waits += 1;
    return { body: await work, key };
  }

  /** The result if this process has cached it. */
  readCached(key: ReportKey, report: Report): Buffer | undefined {
    const body = this.#cached.get(key.cacheKey);
    if (body !== undefined) this.figures.of(report.name).hits += 1;
    return body;
  }

  /** The compressed form of a cached result, see {@link derive}. */
  compressed({ cacheKey }: ReportKey, encoding: string): Buffer | undefined {
    return this.#cached.get(`${cacheKey}:${encoding}`);
  }

  /**
   * Renders a file or chart of a result, once for concurrent requests; aborted when all clients have disconnected.
   * @param signal is aborted when the client disconnects; its reason is thrown.
   */
  async derive(
    key: string,
    make: (signal: AbortSignal) => Promise<Buffer>,
    signal?: AbortSignal,
  ): Promise<Buffer> {
    const known = this.#cached.get(key);
    if (known !== undefined) return known;
    const made = await this.#share(key, make, signal);
    this.#cached.set(key, made);
    return made;
  }

  /** The last stored result of the request; without a body if it was too large. */
  async #lastOf({ request }: ReportKey): Promise<{ tag: string; at: number; body: string } | undefined> {
    const text = await this.#cache.get(`report:${request}`);
    if (text === undefined) return undefined;
    const end = text.indexOf('\n');
    return { ...JSON.parse(text.slice(0, end)), body: text.slice(end + 1) };
  }

  async #stored(key: ReportKey): Promise<Buffer | undefined> {
    const last = await this.#lastOf(key);
    return last?.tag === key.tag && last.body !== '' ? Buffer.from(last.body) : undefined;
  }

  async #computeOnce(ctx: Ctx, key: ReportKey, request: ReportRequest): Promise<Buffer> {
    const stored = await this.#stored(key);
    if (stored !== undefined) {
      this.figures.of(request.report.name).hits += 1;
      return stored;
    }
    if (!this.#shared) return await this.#computeAndStore(ctx, key, request);
    let body: Buffer | undefined;
    const underLock = async (lock: Knex.Transaction): Promise<void> => {
      // released after the result is stored, so that waiting processes find it in the cache
      await query(lock)
        .run`select set_config('lock_timeout', '${embed(LOCK_TIMEOUT)}', true), pg_advisory_xact_lock(7203005, hashtext(${key.cacheKey}))`;
      await withHeartbeat(lock, async () => {
        body = (await this.#stored(key)) ?? (await this.#computeAndStore(ctx, key, request));
      });
    };
    try {
      await this.#withSemaphore(() => ctx.db.transaction(underLock));
    } catch (error) {
      // a lost lock does not affect the result
      if (body === undefined) throw error;
    }
    return body!;
  }

  async #compute(ctx: Ctx, request: ReportRequest): Promise<Buffer> {
    const start = performance.now();
    const compute = () => computeReport(ctx, request, this.#cache);
    const limited = request.range === undefined ? this.#ofAll : this.#ofPage;
    const body = request.report.isPaged ? await limited(compute) : await compute();
    const figure = this.figures.of(request.report.name);
    figure.computed += 1;
    figure.seconds += (performance.now() - start) / 1000;
    return body;
  }

  async #computeAndStore(ctx: Ctx, key: ReportKey, request: ReportRequest): Promise<Buffer> {
    const body = await this.#compute(ctx, request);
    const entry = `report:${key.request}`;
    const head = `${JSON.stringify({ tag: key.tag, at: Date.now() })}\n`;
    const fits = this.#shared || body.length <= MAX_UNSHARED_BYTES;
    if (!(fits && (await this.#cache.set(entry, head + body.toString(), CACHE_SECONDS)))) {
      await this.#cache.set(entry, head, CACHE_SECONDS);
    }
    return body;
  }

  /** Computes an uncached report; its key contains the hash of its content. */
  async #computeFor(ctx: Ctx, key: ReportKey, request: ReportRequest): Promise<ReportResult> {
    const body = await this.#compute(ctx, request);
    const tag = sha256(body).slice(0, 40);
    return { body, key: { ...key, cacheKey: `${key.cacheKey}:${tag}`, tag } };
  }

  /** A stale result of at most `maxStaleness` seconds, computed by any process. */
  async #earlier(
    key: ReportKey,
    request: ReportRequest,
    maxStaleness: number,
  ): Promise<ReportResult | undefined> {
    const last = await this.#lastOf(key);
    if (!last) return undefined;
    const age = Math.max(0, (Date.now() - last.at) / 1000);
    if (age > maxStaleness) return undefined;
    const cacheKey = cacheKeyOf(request.report, last.tag);
    const body = this.#cached.get(cacheKey) ?? (last.body === '' ? undefined : Buffer.from(last.body));
    if (body === undefined) return undefined;
    return { body, key: { request: key.request, cacheKey, tag: last.tag }, age: Math.floor(age) };
  }
}

/** Longer than any transaction, since an open one can still write events with an earlier time. */
const SETTLED_MS = 60 * 60 * 1000;

/** Whether a result depends on a topic: later writes to cards and relations do not change a result as of an earlier time. */
function isAffected({ report, params, filtered, asOf }: ReportRequest, topic: string): boolean {
  const settled = asOf !== undefined && Date.now() - asOf.getTime() > SETTLED_MS;
  if (settled && /^(cards|relations):/.test(topic)) return false;
  return dependsOn(report, topic, params) || (filtered && filterTopics.test(topic));
}

const cacheKeyOf = ({ name }: Report, tag: string): string => `report:${name}:${tag}`;
