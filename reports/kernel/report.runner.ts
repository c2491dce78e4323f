import type { Knex } from 'knex';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { Cache } from '../../platform/cache.ts';
import { sha256 } from '../../platform/crypto.ts';
import { whileAwake } from '../../platform/database.ts';
import { createLru, type Lru } from '../../platform/lru.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { computeAnswer } from './report.compute.ts';
import { createReportFigures, type ReportFigures } from './report.figures.ts';
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

/** Computes reports, or gives what was computed from the same state before. */
export interface ReportRunner {
  /**
   * Names the answer without computing it.
   * @param topics the topics' versions, read after the request arrived: the answer is at least as new.
   */
  name(ctx: Ctx, topics: ReadonlyMap<string, number>, question: ReportQuestion): AnswerName;
  /** @param maxStaleness seconds: an answer from before that is no older than this will do. */
  run(ctx: Ctx, name: AnswerName, question: ReportQuestion, maxStaleness?: number): Promise<ReportAnswer>;
  /** The answer of that name where this process holds it. */
  again(name: AnswerName, report: Report): Buffer | undefined;
  /**
   * What is made from an answer, such as a picture: once for all who ask, and given up when all have gone.
   * @param signal tells that the one who asks has gone; its reason is thrown.
   */
  derive(key: string, make: (signal: AbortSignal) => Promise<Buffer>, signal?: AbortSignal): Promise<Buffer>;
  figures: ReportFigures;
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
 * The last answer to each question is stored with the versions of all topics it depends on, and is only given while these
 * are the versions in force: the next answer replaces it. Of those who ask at once, one computes and the others wait, in all processes together.
 * @param shared whether other processes see the same cache.
 */
export function createReportRunner(cache: Cache, shared: boolean): ReportRunner {
  const figures = createReportFigures();
  const cached = createLru<Buffer>(CACHED_BYTES, (body) => body.length);
  const limited = createSemaphore(LOCKS);
  const running = new Map<string, Promise<Buffer>>();
  const share = createShared();
  // the same map is handed in for as long as no version has changed
  const names = new WeakMap<ReadonlyMap<string, number>, Lru<AnswerName>>();

  const once = (key: string, make: () => Promise<Buffer>): Promise<Buffer> => {
    let work = running.get(key);
    if (!work) {
      work = make()
        .then((body) => {
          cached.set(key, body);
          return body;
        })
        .finally(() => running.delete(key));
      running.set(key, work);
    }
    return work;
  };

  /** The last answer to the question that was stored; without a body where it was too large. */
  const lastOf = async ({
    question,
  }: AnswerName): Promise<{ tag: string; at: number; body: string } | undefined> => {
    const text = await cache.get(`report:${question}`);
    if (text === undefined) return undefined;
    const end = text.indexOf('\n');
    return { ...JSON.parse(text.slice(0, end)), body: text.slice(end + 1) };
  };

  const stored = async (name: AnswerName): Promise<Buffer | undefined> => {
    const last = await lastOf(name);
    return last?.tag === name.tag && last.body !== '' ? Buffer.from(last.body) : undefined;
  };

  const computeOnce = async (ctx: Ctx, name: AnswerName, question: ReportQuestion): Promise<Buffer> => {
    const kept = await stored(name);
    if (kept !== undefined) {
      figures.hit(question.report.name);
      return kept;
    }
    if (!shared) return await computeAndKeep(ctx, name, question);
    let body: Buffer | undefined;
    const underLock = async (lock: Knex.Transaction): Promise<void> => {
      // held until the answer is stored; whoever waited finds it in the cache
      await lock.raw(
        `select set_config('lock_timeout', '${PATIENCE}', true), pg_advisory_xact_lock(7203005, hashtext(?))`,
        [name.key],
      );
      await whileAwake(lock, async () => {
        body = (await stored(name)) ?? (await computeAndKeep(ctx, name, question));
      });
    };
    try {
      await limited(() => ctx.db.transaction(underLock));
    } catch (error) {
      // the lock may be lost, the answer is right nevertheless
      if (body === undefined) throw error;
    }
    return body!;
  };

  const computeAndKeep = async (ctx: Ctx, name: AnswerName, question: ReportQuestion): Promise<Buffer> => {
    const start = performance.now();
    const body = await computeAnswer(ctx, question, cache);
    figures.computed(question.report.name, (performance.now() - start) / 1000);
    const key = `report:${name.question}`;
    const head = `${JSON.stringify({ tag: name.tag, at: Date.now() })}\n`;
    const fits = shared || body.length <= KEPT_ALONE_BYTES;
    if (!(fits && (await cache.set(key, head + body.toString(), KEEP_SECONDS)))) {
      await cache.set(key, head, KEEP_SECONDS);
    }
    return body;
  };

  /** Computed for one request, and known by its content. */
  const computeFor = async (ctx: Ctx, name: AnswerName, question: ReportQuestion): Promise<ReportAnswer> => {
    const start = performance.now();
    const body = await computeAnswer(ctx, question, cache);
    figures.computed(question.report.name, (performance.now() - start) / 1000);
    const tag = sha256(body).slice(0, 40);
    return { body, name: { ...name, key: `${name.key}:${tag}`, tag } };
  };

  /** An earlier answer that is young enough, from this process or another. */
  const earlier = async (
    name: AnswerName,
    question: ReportQuestion,
    maxStaleness: number,
  ): Promise<ReportAnswer | undefined> => {
    const last = await lastOf(name);
    if (!last) return undefined;
    const age = Math.max(0, (Date.now() - last.at) / 1000);
    if (age > maxStaleness) return undefined;
    const key = keyOf(question.report, last.tag);
    const body = cached.get(key) ?? (last.body === '' ? undefined : Buffer.from(last.body));
    if (body === undefined) return undefined;
    return { body, name: { question: name.question, key, tag: last.tag }, age: Math.floor(age) };
  };

  return {
    figures,
    name(ctx, topics, question) {
      let known = names.get(topics);
      if (!known) {
        known = createLru(NAMES.bytes, () => NAMES.each);
        names.set(topics, known);
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
    },

    async run(ctx, name, question, maxStaleness = 0) {
      const { report } = question;
      if (report.uncached) return await computeFor(ctx, name, question);
      const known = this.again(name, report);
      if (known !== undefined) return { body: known, name };
      if (maxStaleness > 0) {
        const old = await earlier(name, question, maxStaleness);
        if (old) {
          figures.stale(report.name, old.age ?? 0);
          return old;
        }
      }
      if (running.has(name.key)) figures.wait(report.name);
      const body = await once(name.key, () => computeOnce(ctx, name, question));
      return { body, name };
    },

    again(name, report) {
      const body = cached.get(name.key);
      if (body !== undefined) figures.hit(report.name);
      return body;
    },

    async derive(key, make, signal) {
      const known = cached.get(key);
      if (known !== undefined) return known;
      const made = await share(key, make, signal);
      cached.set(key, made);
      return made;
    },
  };
}

/** Longer than any transaction lasts: one that is open may still write events of a moment that has just passed. */
const SETTLED_MS = 60 * 60 * 1000;

/** Whether an answer changes with a topic: what is written to cards and relations later changes no moment long past. */
function depends(topic: string, { report, params, filtered, asOf }: ReportQuestion): boolean {
  const settled = asOf !== undefined && Date.now() - asOf.getTime() > SETTLED_MS;
  if (settled && /^(cards|relations):/.test(topic)) return false;
  return report.dependsOn(topic, params) || (filtered && filterTopics.test(topic));
}

const keyOf = ({ name }: Report, tag: string): string => `report:${name}:${tag}`;
