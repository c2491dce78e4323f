import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { isConnectionLoss } from '../../platform/database.ts';
import { isFull } from '../../platform/embedded-postgres/surroundings.ts';
import { isStorageFull } from '../../platform/errors.ts';
import { within } from '../../platform/within.ts';
import type { Services } from './services.ts';

interface Readiness {
  ready: boolean;
  /** The status of each dependency: `ok` or an error. */
  checks: Record<string, string>;
}

const LIMIT_MS = 2_000;
/** How long a result is valid: writes are tested at most once in this time. */
const FRESH_MS = 1_000;
/** Number of bytes that are written to test whether files can be stored. */
const PROBE_BYTES = 64 * 1024;

const stateOf = async (work: Promise<unknown>): Promise<string> =>
  (await within(
    work.then(() => 'ok', messageOf),
    LIMIT_MS,
  )) ?? 'no answer within 2 seconds';

function messageOf(error: unknown): string {
  if (isStorageFull(error)) return 'refuses writes: storage_full, no space is left';
  const { name, message } = error as Error;
  // Errors that Redis returns, as opposed to connection errors.
  if (name === 'ReplyError') {
    return message.startsWith('OOM') ? 'refuses writes: its memory is full' : 'refuses writes';
  }
  return isConnectionLoss(error) || name !== 'error' ? 'not reachable' : 'refuses writes';
}

/** Stores and deletes a file. */
async function tryFiles({ blobs }: Services): Promise<void> {
  const key = randomUUID();
  await blobs.put(key, Readable.from([Buffer.alloc(PROBE_BYTES)]));
  await blobs.remove(key);
}

/**
 * PostgreSQL stops if it cannot write its log. If it stopped in the embedded data folder, the disk usage shows the
 * reason.
 */
export async function withDiskFullReason(
  state: string,
  dataDir: string | undefined,
  isDiskFull: (folder: string) => Promise<boolean> = isFull,
): Promise<string> {
  if (dataDir === undefined || state === 'ok' || state.startsWith('refuses writes')) return state;
  return (await isDiskFull(dataDir).catch(() => false)) ? `${state}: storage_full, no space is left` : state;
}

async function look(services: Services): Promise<Readiness> {
  const { embedded, dataDir } = services.config;
  const checks: Record<string, Promise<string>> = {
    // Writes a WAL record without effect: a server that cannot write refuses it, and so does a standby.
    database: stateOf(
      services.db.raw(
        `select pg_logical_emit_message(true, 'estate', '') from (select 1 from roles limit 1) r`,
      ),
    ).then((state) => withDiskFullReason(state, embedded ? dataDir : undefined)),
    files: stateOf(tryFiles(services)),
    ...(services.config.redisUrl ? { redis: stateOf(services.cache.probe()) } : {}),
  };
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, state]): Promise<[string, string]> => [name, await state]),
  );
  return { ready: states.every(([, state]) => state === 'ok'), checks: Object.fromEntries(states) };
}

/**
 * Whether requests can be served: database, files and, if used, Redis accept a write. Queue and cache use the same
 * Redis, or the queue is in PostgreSQL.
 */
export function createReadiness(services: Services): () => Promise<Readiness> {
  let last: Promise<Readiness> | undefined;
  let until = 0;
  return () => {
    if (!last || Date.now() >= until) {
      last = look(services);
      until = Date.now() + FRESH_MS;
    }
    return last;
  };
}
