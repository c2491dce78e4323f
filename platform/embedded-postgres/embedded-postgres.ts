import { mkdir, realpath } from 'node:fs/promises';
import pg from 'pg';
import type { Logger } from '../logging.ts';
import { StartupError } from '../startup.ts';
import { requireWritable, serverAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { type Cluster, ensureRunning, makeCluster, stopServer } from './cluster.ts';
import { tryLock, waitForLock } from './folder-lock.ts';

export interface EmbeddedPostgres {
  /** The address of the database. */
  url: string;
  /** Leaves the server; the last process that leaves stops it. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  dataDir: string;
  log: Logger;
  /** Refuse when another process has opened the folder exclusively. */
  exclusive?: boolean;
}

const LOCK_WAIT_MS = 90_000;
const KEEPER = 'estate keeper';

/**
 * Opens the PostgreSQL of a data folder: makes it the first time, adopts a server that a killed process left,
 * joins one that another process of ours uses, else starts it.
 * @throws StartupError, or the file system's error, for what the user can mend.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(options.dataDir, { recursive: true });
  await requireWritable(options.dataDir);
  const dataDir = await realpath(options.dataDir);
  const exclusive = options.exclusive ? await tryLock(dataDir, 'exclusive') : undefined;
  if (options.exclusive && !exclusive) {
    throw new StartupError(
      `${dataDir} is in use by another "npm start": stop that one or choose another folder with DATA_DIR.`,
    );
  }
  const cluster: Cluster = {
    dataDir,
    binaries: await findBinaries(),
    account: serverAccount(),
    log: options.log,
  };
  const mutex = async () => {
    const lock = await waitForLock(dataDir, 'server', LOCK_WAIT_MS);
    if (!lock)
      throw new StartupError(
        `Another process has been starting in ${dataDir} for too long: end it and try again.`,
      );
    return lock;
  };

  const lock = await mutex();
  let url: string;
  let keeper: Keeper;
  try {
    await makeCluster(cluster);
    url = await ensureRunning(cluster);
    keeper = await openKeeper(url);
  } finally {
    await lock.release();
  }

  return {
    url,
    async stop() {
      const leaving = await mutex();
      try {
        await keeper.close();
        if ((await otherKeepers(url)) === 0) await stopServer(cluster);
      } finally {
        await leaving.release();
        await exclusive?.release();
      }
    },
  };
}

interface Keeper {
  close(): Promise<void>;
}

/**
 * A connection that says "this process uses the server". It vanishes with the process, so there is no list of
 * users to be kept right.
 */
async function openKeeper(url: string): Promise<Keeper> {
  let closed = false;
  let client: pg.Client;
  const connect = async () => {
    client = new pg.Client({ connectionString: url, application_name: KEEPER, keepAlive: true });
    client.on('error', () => undefined);
    client.once('end', () => {
      if (!closed) setTimeout(() => connect().catch(() => undefined), 500).unref();
    });
    await client.connect();
  };
  await connect();
  return {
    async close() {
      closed = true;
      await client.end().catch(() => undefined);
    },
  };
}

async function otherKeepers(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url, application_name: 'estate' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    // our own keeper's backend may take a moment to go
    const count = async () =>
      Number(
        (
          await client.query('select count(*)::int as n from pg_stat_activity where application_name = $1', [
            KEEPER,
          ])
        ).rows[0].n,
      );
    let others = await count();
    for (let n = 0; others > 0 && n < 6; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      others = await count();
    }
    return others;
  } catch {
    return 0;
  } finally {
    await client.end().catch(() => undefined);
  }
}
