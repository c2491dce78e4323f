import type { Knex } from 'knex';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { Cache } from '../../platform/cache.ts';
import { sha256 } from '../../platform/crypto.ts';
import { whileAwake } from '../../platform/database.ts';
import { createLru, type Lru } from '../../platform/lru.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { computeAnswer } from './report.compute.ts';
import { ReportFigures } from './report.figures.ts';
import type { ReportQuestion } from './report.question.ts';
import { createShared } from './report.shared.ts';
import type { Report } from './report.ts';

/** Under which an answer is kept, and by which clients know it. */
export interface AnswerName {
  /** The same for every state of the landscape. */
  question: string;
  key: string;
  /** Without quotes, to be told apart by format. */
  tag: string;
}

interface ReportAnswer {
  /** JSON in UTF-8, encoded once for all who ask. */
  body: Buffer;
  name: AnswerName;
  /** Seconds since it was computed, when it may be older than the newest change. */
  age?: number;
}

const KEEP_SECONDS = 24 * 60 * 60;
/** Larger answers are not stored in a cache that no other process reads: they would take the place of many. */
const KEPT_ALONE_BYTES = 4 * 1024 * 1024;
/** How long a computation may take for which other processes wait; nothing else waits for its lock. */
const PATIENCE = '10min';
/** Each holds a connection while it needs another: few enough that there is always one. */
const LOCKS = 4;
/** Answers of the process's own, so that a repeated question costs no round trip. */
const CACHED_BYTES = 64 * 1024 * 1024;
/** Bytes of the questions whose names are remembered for one state of the landscape, and of one name. */
const NAMES = { bytes: 4 * 1024 * 1024, each: 500 };

/** Topics on which every filter may depend: cards, what is related to them, and what the words of a filter mean. */
const filterTopics = /^(cards:|relations:|metamodel$|users$|roles$|catalogues$)/;

/**
 * Computes reports, or returns what was computed from the same state before. The last answer to each question is stored with
 * the versions of all topics it depends on, and is only returned while these are the current versions: the next answer
 * replaces it. Of concurrent requests, one computes and the others wait, in all processes together.
 */
export class ReportRunner {
  readonly figures = new ReportFigures();
  readonly #cache: Cache;
  /** Whether other processes see the same cache. */
  readonly #shared: boolean;
  readonly #cached = createLru<Buffer>(CACHED_BYTES, (body) => body.length);
  readonly #limited = createSemaphore(LOCKS);
  readonly #running = new Map<string, Promise<Buffer>>();
  readonly #share = createShared();
  /** By the map of versions, which is the same object as long as no version has changed. */
  readonly #names = new WeakMap<ReadonlyMap<string, number>, Lru<AnswerName>>();

  constructor(cache: Cache, shared: boolean) {
    this.#cache = cache;
    this.#shared = shared;
  }

  /**
   * Names the answer without computing it.
   * @param topics the topics' versions, read after the request arrived: the answer is at least as new.
   */
  name(ctx: Ctx, topics: ReadonlyMap<string, number>, question: ReportQuestion): AnswerName {
    let known = this.#names.get(topics);
    if (!known) {
      known = createLru(NAMES.bytes, () => NAMES.each);
      this.#names.set(topics, known);
    }
    const { report, params, cards, asOf, forPicture } = question;
    const asked = JSON.stringify([report.name, report.variant(ctx), params, cards, asOf, forPicture]);
    let name = known.get(asked);
    if (!name) {
      const stamp = [...topics]
        .filter(([topic]) => depends(topic, question))
        .map(([topic, version]) => `${topic}=${version}`)
        .sort();
      const tag = sha256(JSON.stringify([asked, stamp])).slice(0, 40);
      const hash = sha256(asked).slice(0, 40);
      name = { question: `${report.name}:${hash}`, key: keyOf(report, tag), tag };
      known.set(asked, name);
    }
    return name;
  }

  /** @param maxStaleness seconds: an older answer that is no older than this is returned as well. */
  async run(ctx: Ctx, name: AnswerName, question: ReportQuestion, maxStaleness = 0): Promise<ReportAnswer> {
    const { report } = question;
    if (report.uncached) return await this.#computeFor(ctx, name, question);
    const known = this.readCached(name, report);
    if (known !== undefined) return { body: known, name };
    if (maxStaleness > 0) {
      const old = await this.#earlier(name, question, maxStaleness);
      if (old) {
        const figure = this.figures.of(report.name);
        figure.stale += 1;
        figure.age = old.age ?? 0;
        return old;
      }
    }
    let work = this.#running.get(name.key);
    if (work) this.figures.of(report.name).waits += 1;
    else {
      work = this.#computeOnce(ctx, name, question)
        .then((body) => {
          this.#cached.set(name.key, body);
          return body;
        })
        .finally(() => this.#running.delete(name.key));
      this.#running.set(name.key, work);
    }
    return { body: await work, name };
  }

  /** The answer with the name if this process caches it. */
  readCached(name: AnswerName, report: Report): Buffer | undefined {
    const body = this.#cached.get(name.key);
    if (body !== undefined) this.figures.of(report.name).hits += 1;
    return body;
  }

  /**
   * What is made from an answer, such as a picture: once for concurrent requests, and aborted when all of them have gone.
   * @param signal is aborted when the request has gone; its reason is thrown.
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

  /** The last answer to the question that was stored; without a body if it was too large. */
  async #lastOf({ question }: AnswerName): Promise<{ tag: string; at: number; body: string } | undefined> {
    const text = await this.#cache.get(`report:${question}`);
    if (text === undefined) return undefined;
    const end = text.indexOf('\n');
    return { ...JSON.parse(text.slice(0, end)), body: text.slice(end + 1) };
  }

  async #stored(name: AnswerName): Promise<Buffer | undefined> {
    const last = await this.#lastOf(name);
    return last?.tag === name.tag && last.body !== '' ? Buffer.from(last.body) : undefined;
  }

  async #computeOnce(ctx: Ctx, name: AnswerName, question: ReportQuestion): Promise<Buffer> {
    const stored = await this.#stored(name);
    if (stored !== undefined) {
      this.figures.of(question.report.name).hits += 1;
      return stored;
    }
    if (!this.#shared) return await this.#computeAndStore(ctx, name, question);
    let body: Buffer | undefined;
    const underLock = async (lock: Knex.Transaction): Promise<void> => {
      // held until the answer is stored, so that those who wait find it in the cache
      await lock.raw(
        `select set_config('lock_timeout', '${PATIENCE}', true), pg_advisory_xact_lock(7203005, hashtext(?))`,
        [name.key],
      );
      await whileAwake(lock, async () => {
        body = (await this.#stored(name)) ?? (await this.#computeAndStore(ctx, name, question));
      });
    };
    try {
      await this.#limited(() => ctx.db.transaction(underLock));
    } catch (error) {
      // the lock may be lost, the answer is right nevertheless
      if (body === undefined) throw error;
    }
    return body!;
  }

  async #compute(ctx: Ctx, question: ReportQuestion): Promise<Buffer> {
    const start = performance.now();
    const body = await computeAnswer(ctx, question, this.#cache);
    const figure = this.figures.of(question.report.name);
    figure.computed += 1;
    figure.seconds += (performance.now() - start) / 1000;
    return body;
  }

  async #computeAndStore(ctx: Ctx, name: AnswerName, question: ReportQuestion): Promise<Buffer> {
    const body = await this.#compute(ctx, question);
    const key = `report:${name.question}`;
    const head = `${JSON.stringify({ tag: name.tag, at: Date.now() })}\n`;
    const fits = this.#shared || body.length <= KEPT_ALONE_BYTES;
    if (!(fits && (await this.#cache.set(key, head + body.toString(), KEEP_SECONDS)))) {
      await this.#cache.set(key, head, KEEP_SECONDS);
    }
    return body;
  }

  /** Computes an answer for one request; its content names it. */
  async #computeFor(ctx: Ctx, name: AnswerName, question: ReportQuestion): Promise<ReportAnswer> {
    const body = await this.#compute(ctx, question);
    const tag = sha256(body).slice(0, 40);
    return { body, name: { ...name, key: `${name.key}:${tag}`, tag } };
  }

  /** An earlier answer that is young enough, from this process or another. */
  async #earlier(
    name: AnswerName,
    question: ReportQuestion,
    maxStaleness: number,
  ): Promise<ReportAnswer | undefined> {
    const last = await this.#lastOf(name);
    if (!last) return undefined;
    const age = Math.max(0, (Date.now() - last.at) / 1000);
    if (age > maxStaleness) return undefined;
    const key = keyOf(question.report, last.tag);
    const body = this.#cached.get(key) ?? (last.body === '' ? undefined : Buffer.from(last.body));
    if (body === undefined) return undefined;
    return { body, name: { question: name.question, key, tag: last.tag }, age: Math.floor(age) };
  }
}

/** Longer than any transaction lasts: an open one may still write events with an earlier time. */
const SETTLED_MS = 60 * 60 * 1000;

/** Whether an answer changes with a topic: later writes to cards and relations do not change an answer as of an earlier date. */
function depends(topic: string, { report, params, filtered, asOf }: ReportQuestion): boolean {
  const settled = asOf !== undefined && Date.now() - asOf.getTime() > SETTLED_MS;
  if (settled && /^(cards|relations):/.test(topic)) return false;
  return report.dependsOn(topic, params) || (filtered && filterTopics.test(topic));
}

const keyOf = ({ name }: Report, tag: string): string => `report:${name}:${tag}`;
