import type { Services } from './services.ts';

export interface Readiness {
  ready: boolean;
  /** Each thing the service stands on: `ok` or what is wrong. */
  checks: Record<string, string>;
}

const LIMIT_MS = 2_000;

async function within(work: Promise<unknown>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('no answer within 2 seconds'), LIMIT_MS);
  });
  try {
    return await Promise.race([work.then(() => 'ok'), limit]);
  } catch {
    return 'not reachable';
  } finally {
    clearTimeout(timer);
  }
}

/** Whether requests can be served: the database answers, and so does Redis where it is used. */
export async function readiness(services: Services): Promise<Readiness> {
  const checks: Record<string, string> = {
    database: await within(services.db.raw('select 1 from roles limit 1')),
    ...(services.config.redisUrl ? { redis: await within(services.cache.ping()) } : {}),
  };
  return { ready: Object.values(checks).every((state) => state === 'ok'), checks };
}
