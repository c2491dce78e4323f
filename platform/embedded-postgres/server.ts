import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StartupError } from '../startup.ts';
import { handOver } from './account.ts';
import {
  type Access,
  type Cluster,
  folderOf,
  freePort,
  logFile,
  readAccess,
  urlOf,
  writeAccess,
} from './cluster.ts';
import { findPostmaster, signalPostmaster, whoAnswers } from './postmaster.ts';
import { processMark } from './processes.ts';
import { diskFull, isFull, serverEnvironment } from './surroundings.ts';

/** For a server that neither answers nor recovers. */
const START_LIMIT_MS = 60_000;
/** For one that says that it recovers: replaying the log after a crash must not be broken off. */
const RECOVERY_LIMIT_MS = 600_000;
/** How long a process that may be another program is given to show that it is our server. */
const DOUBT_MS = 5_000;
const STEP_MS = 30;
/** The step of longer waits: a server that recovers logs each time that it is asked. */
const LONG_STEP_MS = 250;

/** Waits for the next look at a server, ever longer. */
const nextLook = (waitedMs: number) => pause(Math.min(LONG_STEP_MS, Math.max(STEP_MS, waitedMs / 10)));

const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '120',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  // what must be replayed after a power cut: about ten seconds' work
  max_wal_size: '1GB',
  random_page_cost: '1.1',
  jit: 'off',
  log_timezone: 'UTC',
  timezone: 'UTC',
  log_checkpoints: 'off',
  // refused statements are the clients' business, and hold their data
  log_min_messages: 'log',
  // what a killed process had running ends soon, and frees its locks
  ...(process.platform === 'win32' ? {} : { client_connection_check_interval: '1s' }),
};

/**
 * Sees to it that the cluster's server runs: adopts one that a killed process left, waits for one that starts or
 * stops, else starts it. To be called under the folder's lock.
 * @param onSpawn told of the process of each server that is started, before that has said anything of itself.
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
    // a server that is just coming writes its file in two steps
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
      // the pid went to the server of another folder; ours has ended
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
  if (cluster.account.owner) await handOver(folder, cluster.account.owner);
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
  // why the last one ended may still be asked
  await rename(log, `${log}.1`).catch(() => undefined);
  const output = openSync(log, 'w', 0o600);
  const given = Object.entries({ ...settings, port: String(access.port) });
  const { file, args, as } = cluster.account.command(cluster.binaries.postgres, [
    '-D',
    folderOf(cluster),
    ...given.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  try {
    // it outlives this process, which may be killed; the next start adopts it
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
  // one that a killed process had just spawned was first
  if (findPostmaster(folderOf(cluster)).state === 'running') return true;
  if (/could not bind|could not create any TCP/i.test(said)) {
    // another program took the port in between
    await writeAccess(cluster, Object.assign(access, { port: await freePort() }));
    return true;
  }
  // sessions of a server that was killed have not all noticed yet
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
