import { realpath } from 'node:fs/promises';
import { makeFolder } from '../folders.ts';
import type { Logger } from '../logging.ts';
import { StartupError } from '../startup.ts';
import { serverAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { type Cluster, folderOf } from './cluster.ts';
import { type FolderLock, tryLock, waitForLock } from './folder-lock.ts';
import { keepServer } from './keeper.ts';
import { makeCluster } from './make-cluster.ts';
import { findPostmaster, signalPostmaster } from './postmaster.ts';
import { processMark } from './processes.ts';
import { ensureRunning, stopServer } from './server.ts';
import { joinUsers } from './users.ts';

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

export interface EmbeddedPostgresOptions {
  dataDir: string;
  log: Logger;
  /** Refuse when another process has opened the folder exclusively. */
  exclusive?: boolean;
}

const LOCK_WAIT_MS = 90_000;
const STOP_LIMIT_MS = 9_000;
/** What is left of the time when a server that does not stop in order is stopped at once. */
const LAST_RESORT_MS = 1_000;

/**
 * Opens the PostgreSQL of a data folder: makes it the first time, adopts a server that a killed process left,
 * joins one that another process of ours uses, else starts it; and brings it back when it is killed.
 * @throws StartupError, or the file system's error, for what the user can mend.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log } = options;
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
    const use = await useServer({ dataDir, binaries, account, log });
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
  // a start that fails, or a process that ends at once, must not leave the server behind
  let spawned: { pid: number; mark: string | undefined } | undefined;
  const atExit = () => {
    if (!user.leave()) return;
    const { state, pid, certain } = findPostmaster(folderOf(cluster));
    if (state === 'running' && certain) signalPostmaster(cluster, pid, 'fast');
    // one that has not come far enough to write its file
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
  const keeper = keepServer({ url, dataDir, log, bringBack });
  return {
    url,
    async leave(limitMs) {
      if (left) return;
      left = true;
      const deadline = Date.now() + limitMs;
      await keeper.close();
      // without the lock, a process that joins in this moment may have to bring the server back
      const leaving = await waitForLock(dataDir, 'server', limitMs / 2);
      try {
        await leave(Math.max(0, deadline - Date.now() - LAST_RESORT_MS));
      } finally {
        await leaving?.release();
      }
    },
  };
}
