import type { Ctx } from '../domain/context.ts';
import type { JsonText } from '../domain/lists/lists.types.ts';
import type { Cache } from '../platform/cache.ts';
import { sha256 } from '../platform/crypto.ts';
import type { Sql } from '../platform/database.ts';

/** One report, declared once. */
export interface Report<P> {
  name: string;
  /** Which topics its numbers depend on. */
  dependsOn(topic: string): boolean;
  /** What besides topics and parameters tells answers apart: rights of the caller, the date. */
  variant(ctx: Ctx): string;
  /**
   * Computes the answer from one snapshot; it holds the `position` that the snapshot saw. Parts of it may be kept
   * in the cache under the versions that the same snapshot saw.
   */
  compute(sql: Sql, ctx: Ctx, params: P, cache: Cache): Promise<JsonText>;
}

export interface ReportAnswer {
  /** JSON in UTF-8, encoded once for all who ask. */
  body: Buffer;
  etag: string;
}

/** Computes reports, or gives what was computed from the same state before. */
export interface ReportRunner {
  /**
   * @param topics the topics' versions, read after the request arrived: the answer is at least as new.
   */
  run<P>(ctx: Ctx, topics: ReadonlyMap<string, number>, report: Report<P>, params: P): Promise<ReportAnswer>;
}

/** Under which an answer is kept, and by which clients know it. */
interface CacheName {
  key: string;
  etag: string;
}

const KEEP_SECONDS = 24 * 60 * 60;
/** Answers of the process's own, so that a repeated question costs no round trip. */
const NEAREST = 200;

/**
 * A report's cache key holds the versions of all topics it depends on, so nothing ever needs to be removed and
 * no answer is ever stale. Of those who ask at once, one computes and the others wait, in all processes together.
 * @param shared whether other processes see the same cache.
 */
export function createReportRunner(cache: Cache, shared: boolean): ReportRunner {
  const nearest = new Map<string, Buffer>();
  const running = new Map<string, Promise<Buffer>>();
  // the same map is handed in for as long as no version has changed
  const names = new WeakMap<ReadonlyMap<string, number>, Map<string, CacheName>>();

  const nameOf = <P>(
    ctx: Ctx,
    topics: ReadonlyMap<string, number>,
    report: Report<P>,
    params: P,
  ): CacheName => {
    let known = names.get(topics);
    if (!known || known.size > NEAREST) {
      known = new Map();
      names.set(topics, known);
    }
    const question = JSON.stringify([report.name, report.variant(ctx), params]);
    let name = known.get(question);
    if (!name) {
      const versions = [...topics].filter(([topic]) => report.dependsOn(topic));
      const stamp = versions.map(([topic, version]) => `${topic}=${version}`).sort();
      const hash = sha256(JSON.stringify([question, stamp])).slice(0, 40);
      name = { key: `report:${report.name}:${hash}`, etag: `"${hash}"` };
      known.set(question, name);
    }
    return name;
  };

  const remember = (key: string, body: Buffer) => {
    nearest.set(key, body);
    if (nearest.size > NEAREST) nearest.delete(nearest.keys().next().value!);
  };

  const computeOnce = async <P>(key: string, ctx: Ctx, report: Report<P>, params: P): Promise<JsonText> => {
    const kept = await cache.get(key);
    if (kept !== undefined) return kept;
    if (!shared) return await computeAndKeep(key, ctx, report, params);
    return await ctx.db.transaction(async (lock) => {
      // held until the answer is stored; whoever waited finds it in the cache
      await lock.raw('select pg_advisory_xact_lock(7203005, hashtext(?))', [key]);
      return (await cache.get(key)) ?? (await computeAndKeep(key, ctx, report, params));
    });
  };

  const computeAndKeep = async <P>(
    key: string,
    ctx: Ctx,
    report: Report<P>,
    params: P,
  ): Promise<JsonText> => {
    const text = await ctx.db.transaction((sql) => report.compute(sql, ctx, params, cache), {
      isolationLevel: 'repeatable read',
      readOnly: true,
    });
    await cache.set(key, text, KEEP_SECONDS);
    return text;
  };

  return {
    async run(ctx, topics, report, params) {
      const { key, etag } = nameOf(ctx, topics, report, params);
      const near = nearest.get(key);
      if (near !== undefined) return { body: near, etag };
      let work = running.get(key);
      if (!work) {
        work = computeOnce(key, ctx, report, params)
          .then((text) => {
            const body = Buffer.from(text);
            remember(key, body);
            return body;
          })
          .finally(() => running.delete(key));
        running.set(key, work);
      }
      return { body: await work, etag };
    },
  };
}
