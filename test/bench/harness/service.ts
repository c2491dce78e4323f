import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, login } from './api.ts';
import { type NodeProcess, repositoryRoot, startNode } from './processes.ts';

/** A running program of the service. */
export interface ServiceProcess extends NodeProcess {
  /** Address without a path; of a worker, unset. */
  url: string | undefined;
}

/** The service on a data folder of its own, gone when it stops. */
export interface Service extends ServiceProcess {
  url: string;
  dataDir: string;
  /** Address of the embedded database, with a superuser's rights. */
  databaseUrl: string;
  /** Logged in as the administrator. */
  api: Api;
  /** Starts a further API or worker on the same data folder; it is stopped with the service. */
  join(kind: 'api' | 'worker'): Promise<ServiceProcess>;
}

const READY_MS = 60_000;
const POLL_MS = 25;

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the probe has no port');
  return address.port;
}

async function untilReady(url: string, process: NodeProcess): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (process.running() && performance.now() < deadline) {
    const answer = await fetch(`${url}/api/health/ready`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await delay(POLL_MS);
  }
  const reason = process.running() ? `is not ready after ${READY_MS} ms` : 'has ended';
  await process.stop();
  throw new Error(`The service ${reason}. It wrote:\n${process.logTail()}`);
}

const scripts = { all: 'start', api: 'api', worker: 'worker' } as const;

/** The program and the options of node with which a script of package.json starts it: what ships is measured. */
async function programOf(kind: keyof typeof scripts): Promise<{ flags: string[]; entry: string }> {
  const manifest = JSON.parse(await readFile(path.join(repositoryRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const words = manifest.scripts[scripts[kind]]!.split(' ').slice(1);
  return { flags: words.slice(0, -1), entry: words.at(-1)! };
}

/** The address that the embedded database's owner leaves in the data folder. */
async function readDatabaseUrl(dataDir: string): Promise<string> {
  const { url } = JSON.parse(await readFile(path.join(dataDir, 'postgres.json'), 'utf8')) as { url: string };
  return url;
}

/**
 * Starts the service, empty, on a new data folder and a free port, and waits until it is ready.
 * @param owner the program that owns the data folder: all in one, or an API beside which workers come and go.
 */
export async function startService(
  env: Record<string, string> = {},
  owner: 'all' | 'api' = 'all',
): Promise<Service> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-'));
  // run by root, PostgreSQL works as a user of its own, who must be able to reach its data
  await chmod(folder, 0o755);
  const dataDir = path.join(folder, 'data');
  const admin = { email: 'admin@bench.example', password: randomBytes(18).toString('base64url') };
  const settings = {
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DEMO: 'false',
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
    LOG_LEVEL: 'warn',
    ...env,
  };
  let started = 0;
  const start = async (kind: keyof typeof scripts): Promise<ServiceProcess> => {
    const port = await freePort();
    started += 1;
    const child = startNode({
      ...(await programOf(kind)),
      env: { ...settings, PORT: String(port) },
      logFile: path.join(folder, `${kind}-${started}.log`),
    });
    const url = kind === 'worker' ? undefined : `http://127.0.0.1:${port}`;
    if (url !== undefined) await untilReady(url, child);
    return { ...child, url };
  };

  const processes: ServiceProcess[] = [];
  const stopAll = async () => {
    // the last one started leaves first, and the owner of the database last
    for (const process of processes.toReversed()) await process.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const main = await start(owner);
    processes.push(main);
    const url = main.url!;
    return {
      ...main,
      url,
      dataDir,
      databaseUrl: await readDatabaseUrl(dataDir),
      api: await login(url, admin),
      async join(kind) {
        const process = await start(kind);
        processes.push(process);
        return process;
      },
      stop: stopAll,
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}
