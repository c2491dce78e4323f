import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openSync } from 'node:fs';
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Logger } from '../logging.ts';
import { StartupError } from '../startup.ts';
import { type Account, handOver, letThrough, requireReach } from './account.ts';
import type { Binaries } from './binaries.ts';

const run = promisify(execFile);

/** The major version whose data folders this program can open. */
const MAJOR = '18';
const USER = 'estate';
const START_LIMIT_MS = 60_000;

export interface Cluster {
  dataDir: string;
  binaries: Binaries;
  account: Account | undefined;
  log: Logger;
}

interface Access {
  port: number;
  password: string;
}

const folderOf = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres');
const accessFile = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres.json');
const logFile = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres.log');

const exists = (place: string) =>
  stat(place).then(
    () => true,
    () => false,
  );

/** Written whole or not at all, and readable by its owner only. */
async function writeAccess(cluster: Cluster, access: Access): Promise<void> {
  const target = accessFile(cluster);
  const partial = `${target}.part`;
  await writeFile(partial, JSON.stringify({ ...access, url: urlOf(access) }), { mode: 0o600 });
  const file = await open(partial, 'r+');
  await file.sync();
  await file.close();
  await rename(partial, target);
}

/** The address of the cluster's database. */
export function urlOf(access: Access): string {
  return `postgres://${USER}:${access.password}@127.0.0.1:${access.port}/postgres`;
}

/**
 * Makes the cluster in the data folder unless it is there: in a folder beside it that gets its name when it is
 * complete, so that a crash leaves nothing half-made.
 * @throws StartupError for a folder of another major version.
 */
export async function makeCluster(cluster: Cluster): Promise<void> {
  const folder = folderOf(cluster);
  for (const name of await readdir(cluster.dataDir)) {
    if (name.startsWith('postgres.new-'))
      await rm(path.join(cluster.dataDir, name), { recursive: true, force: true });
  }
  if (await exists(folder)) {
    const version = await readFile(path.join(folder, 'PG_VERSION'), 'utf8').catch(() => undefined);
    if (version === undefined) {
      throw new StartupError(
        `${folder} is no PostgreSQL data folder: move it away or choose another folder with DATA_DIR.`,
      );
    }
    if (version.trim() !== MAJOR) {
      throw new StartupError(
        `${folder} was made by PostgreSQL ${version.trim()} and this program brings ${MAJOR}: move the data with pg_dump and pg_restore, or choose another folder with DATA_DIR.`,
      );
    }
    if (await exists(accessFile(cluster))) return;
    throw new StartupError(
      `${accessFile(cluster)} is missing, and with it the database's password: restore it from a backup.`,
    );
  }
  const fresh = path.join(cluster.dataDir, `postgres.new-${randomBytes(4).toString('hex')}`);
  const password = randomBytes(24).toString('base64url');
  const passwordFile = `${fresh}.password`;
  await mkdir(fresh, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (cluster.account) {
    await letThrough(cluster.dataDir);
    await handOver(fresh, cluster.account);
    await chown(passwordFile, cluster.account.uid, cluster.account.gid);
    requireReach(fresh, cluster.account);
    requireReach(cluster.binaries.initdb, cluster.account);
  }
  try {
    await run(
      cluster.binaries.initdb,
      [
        '-D',
        fresh,
        '-U',
        USER,
        '--pwfile',
        passwordFile,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C.UTF-8',
      ],
      { ...cluster.account },
    );
  } catch (error) {
    const said = (error as { stderr?: string }).stderr ?? '';
    await rm(fresh, { recursive: true, force: true });
    if (/No space left/i.test(said))
      throw Object.assign(new Error(said), { code: 'ENOSPC', path: cluster.dataDir });
    throw new StartupError(
      `PostgreSQL could not make its data folder in ${cluster.dataDir}: ${said.trim().split('\n').at(-1)}`,
    );
  } finally {
    await rm(passwordFile, { force: true });
  }
  await writeAccess(cluster, { port: await freePort(), password });
  await rename(fresh, folder);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

type Answer = 'ours' | 'starting' | 'foreign' | 'none';

/** Who answers at the port. */
async function ask(access: Access): Promise<Answer> {
  const client = new pg.Client({ connectionString: urlOf(access), connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return 'ours';
  } catch (error) {
    const { code } = error as { code?: string };
    // the server is starting, recovering or stopping
    if (code === '57P03' || code === '57P01') return 'starting';
    return code === 'ECONNREFUSED' || code === 'ECONNRESET' ? 'none' : 'foreign';
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The pid in postmaster.pid, if that process lives and is a PostgreSQL server. */
async function postmaster(folder: string): Promise<number | undefined> {
  const text = await readFile(path.join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0)) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  const command = await run('ps', ['-o', 'args=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => 'postgres',
  );
  return /postgres/.test(command) ? pid : undefined;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Sees to it that the cluster's server runs: adopts one that a killed process left, waits for one that starts or
 * stops, else starts it. To be called under the folder's lock.
 * @returns its address.
 */
export async function ensureRunning(cluster: Cluster): Promise<string> {
  const folder = folderOf(cluster);
  const access: Access = JSON.parse(await readFile(accessFile(cluster), 'utf8'));
  const deadline = Date.now() + START_LIMIT_MS;
  while ((await postmaster(folder)) !== undefined) {
    const answer = await ask(access);
    if (answer === 'ours') return urlOf(access);
    if (Date.now() > deadline) {
      throw new StartupError(
        `The PostgreSQL server of ${folder} runs but does not answer: see ${logFile(cluster)}.`,
      );
    }
    await pause(50);
  }
  // its process is gone, so the file is stale, even if another program has that pid by now
  await rm(path.join(folder, 'postmaster.pid'), { force: true });
  if ((await ask(access)) !== 'none') access.port = await freePort();
  await writeAccess(cluster, access);
  await start(cluster, access, deadline);
  return urlOf(access);
}

async function start(cluster: Cluster, access: Access, deadline: number): Promise<void> {
  const folder = folderOf(cluster);
  if (cluster.account) await handOver(folder, cluster.account);
  const output = openSync(logFile(cluster), 'w', 0o600);
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(access.port),
    unix_socket_directories: '',
    max_connections: '120',
    shared_buffers: '256MB',
    effective_cache_size: '1GB',
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    max_wal_size: '2GB',
    random_page_cost: '1.1',
    jit: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
  const server = spawn(
    cluster.binaries.postgres,
    ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    // it outlives this process, which may be killed; the next start adopts it
    { ...cluster.account, detached: true, stdio: ['ignore', output, output] },
  );
  let ended = false;
  server.once('exit', () => {
    ended = true;
  });
  server.once('error', () => {
    ended = true;
  });
  server.unref();
  while (!ended && Date.now() < deadline) {
    if ((await ask(access)) === 'ours') return;
    await pause(30);
  }
  const said = await readFile(logFile(cluster), 'utf8').catch(() => '');
  if (/No space left/i.test(said))
    throw Object.assign(new Error(said), { code: 'ENOSPC', path: cluster.dataDir });
  const fatal = said.split('\n').findLast((line) => /FATAL|PANIC/.test(line)) ?? 'it gave no reason';
  throw new StartupError(
    `PostgreSQL could not start in ${folder} (${fatal.trim()}): see ${logFile(cluster)}.`,
  );
}

/** Stops the server in order, ending its connections. */
export async function stopServer(cluster: Cluster): Promise<void> {
  await run(cluster.binaries.pg_ctl, ['stop', '-D', folderOf(cluster), '-m', 'fast', '-w', '-t', '20'], {
    ...cluster.account,
    cwd: '/',
  }).catch((error: unknown) => cluster.log.warn({ err: error }, 'PostgreSQL did not stop in order'));
}
