import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { readFile, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { StartupError } from '../startup.ts';
import {
  type Access,
  type Cluster,
  chownFolder,
  folderOf,
  freePort,
  logFile,
  readAccess,
  urlOf,
  writeAccess,
} from './cluster.ts';
import { diskFull, isFull, serverEnvironment } from './surroundings.ts';

/** Time limit of a server that neither answers nor recovers. */
const START_LIMIT_MS = 60_000;
/** Time limit of a server in recovery, which must not be interrupted. */
const RECOVERY_LIMIT_MS = 600_000;
/** Time in which a process that may be another program has to answer as our server. */
const DOUBT_MS = 5_000;
const STEP_MS = 30;
/** The interval of longer waits: a server in recovery logs each connection attempt. */
const LONG_STEP_MS = 250;

/** Waits before the next check of a server, with a growing delay. */
const nextLook = (waitedMs: number) => pause(Math.min(LONG_STEP_MS, Math.max(STEP_MS, waitedMs / 10)));

const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '120',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  // The maximum that is replayed after a crash: about ten seconds.
  max_wal_size: '1GB',
  random_page_cost: '1.1',
  jit: 'off',
  log_timezone: 'UTC',
  timezone: 'UTC',
  log_checkpoints: 'off',
  // Failed statements are reported to clients, and contain their data.
  log_min_messages: 'log',
  // Ends statements of killed processes, and so releases their locks.
  ...(process.platform === 'win32' ? {} : { client_connection_check_interval: '1s' }),
};

/**
 * Ensures that the cluster's server runs: adopts one that a killed process left, waits for one that starts or stops,
 * else starts it. Call it under the folder's lock.
 * @param onSpawn called with the pid of each started server, before the server has written its file.
 * @returns its address.
 * @throws StartupError when it does not come up.
 */
export async function ensureRunning(
  cluster: Cluster,
  onSpawn: (pid: number) => void = () => undefined,
): Promise<string> {
  const access = await readAccess(cluster);
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    if (await adopt(cluster, access)) return urlOf(access);
    const failure = await start(cluster, access, onSpawn);
    if (failure === undefined) return urlOf(access);
    if (Date.now() > deadline || !(await mayTryAgain(cluster, access, failure))) {
      if (/No space left/i.test(failure) || (await isFull(cluster.dataDir))) throw diskFull(cluster.dataDir);
      const reason = failure.split('\n').findLast((line) => /FATAL|PANIC/.test(line)) ?? 'it gave no reason';
      throw new StartupError(
        `PostgreSQL could not start in ${folderOf(cluster)} (${reason.trim()}): see ${logFile(cluster)}.`,
      );
    }
  }
}

/** @returns whether the folder's server runs and answers; if not, there is none. */
async function adopt(cluster: Cluster, access: Access): Promise<boolean> {
  const folder = folderOf(cluster);
  const begun = Date.now();
  let limit = START_LIMIT_MS;
  for (let found = findPostmaster(folder); ; found = findPostmaster(folder)) {
    // A starting server writes its file in two steps.
    if (found.state === 'stale' && !found.pid && Date.now() - begun < 10 * STEP_MS) {
      await pause(STEP_MS);
      continue;
    }
    if (found.state !== 'running') {
      // PostgreSQL itself refuses to start beside a file whose pid lives again or that is empty
      if (found.state === 'stale') await rm(path.join(folder, 'postmaster.pid'), { force: true });
      return false;
    }
    const there: Access = { ...access, port: found.port ?? access.port };
    const answer = await whoAnswers(urlOf(there), folder);
    const waited = Date.now() - begun;
    if (answer === 'ours') {
      if (there.port !== access.port) await writeAccess(cluster, Object.assign(access, there));
      return true;
    }
    if (answer === 'starting') limit = RECOVERY_LIMIT_MS;
    else if (!found.certain && waited > DOUBT_MS) {
      // The pid belongs to the server of another folder; ours has ended.
      await rm(path.join(folder, 'postmaster.pid'), { force: true });
      return false;
    }
    if (waited > limit || (answer === 'foreign' && found.certain && waited > DOUBT_MS)) {
      throw new StartupError(
        answer === 'foreign'
          ? `The PostgreSQL server of ${folder} refuses the password kept beside it: restore postgres.json from a backup.`
          : `The PostgreSQL server of ${folder} (process ${found.pid}) runs but does not answer: see ${logFile(cluster)}, end it and try again.`,
      );
    }
    await nextLook(waited);
  }
}

/** Starts the server. @returns undefined when it answers, else what it said before it ended. */
async function start(
  cluster: Cluster,
  access: Access,
  onSpawn: (pid: number) => void,
): Promise<string | undefined> {
  const folder = folderOf(cluster);
  if (cluster.account.owner) await chownFolder(folder, cluster.account.owner);
  if ((await whoAnswers(urlOf(access), folder)) !== 'none') {
    access.port = await freePort();
    await writeAccess(cluster, access);
  }
  const server = await spawnServer(cluster, access);
  if (server.pid) onSpawn(server.pid);
  let ended = false;
  for (const event of ['exit', 'error']) {
    server.once(event, () => {
      ended = true;
    });
  }
  const begun = Date.now();
  let limit = START_LIMIT_MS;
  while (!ended && Date.now() - begun < limit) {
    const answer = await whoAnswers(urlOf(access), folder);
    if (answer === 'ours') return undefined;
    if (answer === 'starting') limit = RECOVERY_LIMIT_MS;
    await nextLook(Date.now() - begun);
  }
  return readFile(logFile(cluster), 'utf8').catch(() => '');
}

async function spawnServer(cluster: Cluster, access: Access): Promise<ChildProcess> {
  const log = logFile(cluster);
  // The log of the previous server is preserved.
  await rename(log, `${log}.1`).catch(() => undefined);
  const output = openSync(log, 'w', 0o600);
  const given = Object.entries({ ...settings, ...cluster.settings, port: String(access.port) });
  const { file, args, as } = cluster.account.command(cluster.binaries.postgres, [
    '-D',
    folderOf(cluster),
    ...given.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  try {
    // It survives this process, which may be killed; the next start adopts it.
    const server = spawn(file, args, {
      ...as,
      cwd: '/',
      env: serverEnvironment(),
      detached: true,
      stdio: ['ignore', output, output],
    });
    server.unref();
    return server;
  } finally {
    closeSync(output);
  }
}

/** Whether a server that ended at once may come up at the next try. */
async function mayTryAgain(cluster: Cluster, access: Access, said: string): Promise<boolean> {
  // A server that a killed process had spawned was first.
  if (findPostmaster(folderOf(cluster)).state === 'running') return true;
  if (/could not bind|could not create any TCP/i.test(said)) {
    // Another program has taken the port meanwhile.
    await writeAccess(cluster, Object.assign(access, { port: await freePort() }));
    return true;
  }
  // Sessions of a killed server have not ended yet.
  if (!/pre-existing shared memory block/i.test(said)) return false;
  await pause(250);
  return true;
}

/** Stops the server in order, ending its connections; at once when the time is up. */
export async function stopServer(cluster: Cluster, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  const folder = folderOf(cluster);
  const { state, pid, certain } = findPostmaster(folder);
  if (state !== 'running') return;
  if (!certain && (await whoAnswers(urlOf(await readAccess(cluster)), folder)) !== 'ours') return;
  const mark = processMark(pid);
  const ended = async (until: number) => {
    while (processMark(pid) === mark && Date.now() < until) await pause(10);
    return processMark(pid) !== mark;
  };
  signalPostmaster(cluster, pid, 'fast');
  if (await ended(deadline)) return;
  cluster.log.warn('PostgreSQL did not stop in time; it recovers at the next start');
  signalPostmaster(cluster, pid, 'immediate');
  await ended(Date.now() + 1_000);
}

/** The content of `postmaster.pid`. */
export interface Postmaster {
  /** `stale`: the server has ended without removing its file. */
  state: 'absent' | 'stale' | 'running';
  pid: number;
  port: number | undefined;
  /** Whether the running process is beyond doubt the server of this folder. */
  certain: boolean;
}

const ABSENT: Postmaster = { state: 'absent', pid: 0, port: undefined, certain: false };

/** Reads the file and checks the process that it names, whose pid may belong to another program by now. */
export function findPostmaster(folder: string): Postmaster {
  let lines: string[];
  try {
    lines = readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ABSENT;
    throw error;
  }
  const pid = Number.parseInt(lines[0]!, 10);
  const port = Number.parseInt(lines[3] ?? '', 10) || undefined;
  const stale: Postmaster = { state: 'stale', pid, port, certain: false };
  if (!(pid > 0) || processMark(pid) === undefined) return stale;
  const command = commandOf(pid);
  if (command !== undefined && !/postgres/.test(command)) return stale;
  const certain = command !== undefined && ` ${command} `.includes(` -D ${folder} `);
  return { state: 'running', pid, port, certain };
}

/** `busy`: a process listens, but does not identify itself. */
type Answer = 'ours' | 'starting' | 'busy' | 'foreign' | 'none';

// cannot connect now, admin shutdown, crash shutdown: the server is starting, recovering or stopping
const COMING_OR_GOING = new Set(['57P03', '57P01', '57P02']);
const NOBODY = new Set(['ECONNREFUSED', 'ECONNRESET']);

/** Who answers at an address. A copy of the folder has the same password: only the right folder is ours. */
async function whoAnswers(url: string, folder: string): Promise<Answer> {
  const config = { connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 };
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('show data_directory');
    const served: string = rows[0].data_directory;
    return (await realpath(served).catch(() => served)) === folder ? 'ours' : 'foreign';
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    if (COMING_OR_GOING.has(code)) return 'starting';
    if (NOBODY.has(code)) return 'none';
    return code.startsWith('28') ? 'foreign' : 'busy';
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Ends a server: `fast` closes its connections, `immediate` leaves the rest to the next recovery. */
export function signalPostmaster(cluster: Cluster, pid: number, mode: 'fast' | 'immediate'): void {
  const signal = mode === 'fast' ? 'SIGINT' : 'SIGQUIT';
  try {
    if (process.platform === 'win32') {
      execFileSync(cluster.binaries.pg_ctl, ['kill', signal.slice(3), String(pid)], { stdio: 'ignore' });
    } else {
      process.kill(pid, signal);
    }
  } catch (error) {
    cluster.log.debug({ err: error, folder: folderOf(cluster) }, 'the PostgreSQL server had ended already');
  }
}

function ps(pid: number, column: string): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
}

function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and belongs to another user
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Identifies a running process besides its pid, which the system reuses: its start time.
 * @returns undefined if it has ended, also as a zombie.
 */
export function processMark(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // proc(5): the name in brackets may hold anything; the state follows it, the start is the 22nd field
    const fields = procFile(pid, 'stat')?.split(') ').at(-1)?.split(' ') ?? ['X'];
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  }
  if (!exists(pid)) return undefined;
  return process.platform === 'win32' ? 'running' : ps(pid, 'lstart');
}

/** The program and arguments of a running process in one text; undefined if the system does not report them. */
function commandOf(pid: number): string | undefined {
  if (process.platform === 'linux') return procFile(pid, 'cmdline')?.replaceAll('\0', ' ').trim();
  return process.platform === 'win32' ? undefined : ps(pid, 'args');
}
