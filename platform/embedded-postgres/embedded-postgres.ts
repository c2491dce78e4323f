import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { sha256 } from '../crypto.ts';
import { isStorageFull } from '../errors.ts';
import { makeFolder } from '../folders.ts';
import type { Logger } from '../logging.ts';
import { StartupError } from '../startup.ts';
import { type Cluster, findBinaries, folderOf, makeCluster, serverAccount } from './cluster.ts';
import { type FolderLock, tryLock, waitForLock } from './folder-lock.ts';
import { ensureRunning, findPostmaster, processMark, signalPostmaster, stopServer } from './server.ts';
import { isFull } from './surroundings.ts';

export interface EmbeddedPostgres {
  /** The address of the database. */
  url: string;
  /**
   * Leaves the server; the last process that leaves stops it. A process that exits without calling it leaves too,
   * and has the server stop by itself.
   * @param limitMs the time that it may take, in milliseconds.
   */
  stop(limitMs?: number): Promise<void>;
}

interface EmbeddedPostgresOptions {
  dataDir: string;
  log: Logger;
  /** Refuse when another process has opened the folder exclusively. */
  exclusive?: boolean;
  /** Settings of the server, which override the defaults. */
  settings?: Record<string, string>;
}

const LOCK_WAIT_MS = 90_000;
const STOP_LIMIT_MS = 9_000;
/** Reserved for an immediate stop of a server that does not stop in order. */
const LAST_RESORT_MS = 1_000;

/**
 * Opens the PostgreSQL of a data folder: makes it the first time, adopts a server that a killed process left,
 * joins one that another process of ours uses, else starts it; and brings it back when it is killed.
 * @throws StartupError, or the file system's error, for what the user can mend.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, settings = {} } = options;
  makeFolder(options.dataDir);
  const dataDir = await realpath(options.dataDir);
  const exclusive = options.exclusive ? await tryLock(dataDir, 'exclusive') : undefined;
  if (options.exclusive && !exclusive) {
    throw new StartupError(
      `${dataDir} is in use by another "npm start": stop that one or choose another folder with DATA_DIR.`,
    );
  }
  try {
    const binaries = await findBinaries();
    const account = await serverAccount({ dataDir, program: binaries.postgres });
    const use = await useServer({ dataDir, binaries, account, log, settings });
    return {
      url: use.url,
      async stop(limitMs = STOP_LIMIT_MS) {
        await use.leave(limitMs);
        await exclusive?.release();
      },
    };
  } catch (error) {
    await exclusive?.release();
    throw error;
  }
}

async function lockServer(dataDir: string): Promise<FolderLock> {
  const lock = await waitForLock(dataDir, 'server', LOCK_WAIT_MS);
  if (lock) return lock;
  throw new StartupError(
    `Another process has been starting in ${dataDir} for too long: end it and try again.`,
  );
}

async function useServer(cluster: Cluster): Promise<{ url: string; leave(limitMs: number): Promise<void> }> {
  const { dataDir, log } = cluster;
  const lock = await lockServer(dataDir);
  const user = joinUsers(dataDir);
  // A failed start, or a process that ends at once, must not leave a running server.
  let spawned: { pid: number; mark: string | undefined } | undefined;
  const atExit = () => {
    if (!user.leave()) return;
    const { state, pid, certain } = findPostmaster(folderOf(cluster));
    if (state === 'running' && certain) signalPostmaster(cluster, pid, 'fast');
    // A server that has not written its file yet.
    else if (spawned?.mark && processMark(spawned.pid) === spawned.mark) {
      signalPostmaster(cluster, spawned.pid, 'fast');
    }
  };
  process.once('exit', atExit);
  const leave = async (limitMs: number) => {
    if (user.leave()) await stopServer(cluster, limitMs);
    process.off('exit', atExit);
  };

  let url: string;
  try {
    await makeCluster(cluster);
    url = await ensureRunning(cluster, (pid) => {
      spawned = { pid, mark: processMark(pid) };
    });
  } catch (error) {
    await leave(STOP_LIMIT_MS);
    throw error;
  } finally {
    await lock.release();
  }

  let left = false;
  const bringBack = async () => {
    const again = await lockServer(dataDir);
    try {
      if (left || (await ensureRunning(cluster)) === url) return;
      log.fatal('PostgreSQL came back at another port: this process must be started again');
    } finally {
      await again.release();
    }
  };
  const supervisor = superviseServer({ url, dataDir, log, bringBack });
  return {
    url,
    async leave(limitMs) {
      if (left) return;
      left = true;
      const deadline = Date.now() + limitMs;
      await supervisor.close();
      // Without the lock, a process that joins now may have to start the server again.
      const leaving = await waitForLock(dataDir, 'server', limitMs / 2);
      try {
        await leave(Math.max(0, deadline - Date.now() - LAST_RESORT_MS));
      } finally {
        await leaving?.release();
      }
    },
  };
}

/** An entry is an empty file with all data in its name, so that it is never partly written. */
function entryName(pid: number): string | undefined {
  const mark = processMark(pid);
  return mark && `${pid}.${sha256(mark).slice(0, 12)}`;
}

/** Removes the entries of processes that have ended without leaving. @returns how many live. */
function prune(folder: string): number {
  let living = 0;
  // The data folder may have been removed.
  for (const file of existsSync(folder) ? readdirSync(folder) : []) {
    const name = entryName(Number.parseInt(file, 10));
    if (name && file.startsWith(`${name}.`)) living += 1;
    else rmSync(path.join(folder, file), { force: true });
  }
  return living;
}

/** Registers this process as a user; called before it checks whether the server runs. */
function joinUsers(dataDir: string) {
  const folder = path.join(dataDir, 'postgres.users');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  prune(folder);
  // one process may use the server more than once
  const file = path.join(folder, `${entryName(process.pid)}.${randomBytes(4).toString('hex')}`);
  writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  return {
    leave() {
      rmSync(file, { force: true });
      return prune(folder) === 0;
    },
  };
}

interface SupervisorOptions {
  url: string;
  /** The data folder. */
  dataDir: string;
  log: Logger;
  /** Starts the server if it has ended; called again until it succeeds. */
  bringBack(): Promise<void>;
  /** Whether the disk of a folder has no room left. */
  isDiskFull?: (folder: string) => Promise<boolean>;
  /** The first wait before the server is brought back again; doubled up to the longest. In milliseconds. */
  pace?: { firstMs: number; longestMs: number; settledMs: number };
}

/** After `settledMs` the server counts as recovered, and the delay starts again at the first one. */
const PACE = { firstMs: 500, longestMs: 15_000, settledMs: 60_000 };

/**
 * Keeps a connection to the server open, and starts the server again when the connection breaks, since no other process
 * supervises a server whose main process was killed. Repeated starts are delayed exponentially, as on a full disk.
 */
export function superviseServer(options: SupervisorOptions) {
  const { url, dataDir, log, bringBack, isDiskFull = isFull, pace = PACE } = options;
  const closing = new AbortController();
  let client: pg.Client | undefined;

  /** Resolves when the connection has ended. */
  const connect = async () => {
    client = new pg.Client({ connectionString: url, application_name: 'estate supervisor', keepAlive: true });
    const ended = new Promise<void>((resolve) => client!.once('end', resolve));
    client.on('error', () => undefined);
    await client.connect();
    if (closing.signal.aborted) await client.end();
    return ended;
  };
  let reportedFull = false;
  const reportFull = async (error?: unknown) => {
    const full = isStorageFull(error) || (await isDiskFull(dataDir).catch(() => false));
    if (full && !reportedFull) {
      log.error(
        `The disk that holds ${dataDir} is full: free some space. PostgreSQL is started again until it can write.`,
      );
    }
    reportedFull = full;
    return full;
  };
  const supervise = async () => {
    let wait = 0;
    let broken = false;
    let begun = 0;
    while (!closing.signal.aborted) {
      try {
        if (broken) await bringBack();
        begun = Date.now();
        await connect();
        if (!closing.signal.aborted && !(await reportFull())) {
          log.warn('the connection to PostgreSQL was lost; checking the server');
        }
        // After the first end the server is started again at once.
        wait = !broken || Date.now() - begun >= pace.settledMs ? 0 : nextWait(wait, pace);
      } catch (error) {
        if (!(await reportFull(error))) log.error({ err: error }, 'PostgreSQL could not be restarted yet');
        wait = nextWait(wait, pace);
      }
      broken = true;
      await pause(wait, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
    }
  };
  const supervising = supervise();
  return {
    async close() {
      closing.abort();
      await client?.end().catch(() => undefined);
      await supervising;
    },
  };
}

const nextWait = (wait: number, { firstMs, longestMs }: typeof PACE) =>
  Math.min(longestMs, Math.max(firstMs, wait * 2));
