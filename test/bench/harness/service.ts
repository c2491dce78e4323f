import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import manifest from '../../../package.json' with { type: 'json' };
import type { Child } from '../../support/child.ts';
import { createPlace, freePort, logIn, untilReady } from '../../support/processes.ts';
import { type Api, apiAt } from './api.ts';

/** A running program of the service. */
export interface ServiceProcess {
  pid: number;
  /** Address without a path; no worker listens on it. */
  url: string;
  child: Child;
  stop(): Promise<void>;
}

/** The service on a data folder of its own, which is removed when the service is disposed of. */
export interface Service extends ServiceProcess, AsyncDisposable {
  /** Address of the embedded database, with a superuser's rights. */
  databaseUrl: string;
  /** A superuser's connection to it. */
  client: pg.Client;
  /** Logged in as the administrator. */
  api: Api;
  /** Starts a further API or worker on the same data folder; it is stopped with the service. */
  join(kind: 'api' | 'worker'): Promise<ServiceProcess>;
}

const running = new Set<Child>();
// a bench that ends badly leaves nothing behind
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

const scripts = { all: 'start', api: 'api', worker: 'worker' } as const;

/**
 * Starts the service, empty, on a new data folder and a free port, and waits until it is ready.
 * @param owner the program that owns the data folder: all in one, or an API beside which workers come and go.
 */
export async function startService(env: Record<string, string> = {}, owner: 'all' | 'api' = 'all') {
  const resources = new AsyncDisposableStack();
  try {
    const place = resources.adopt(await createPlace(), ({ clear }) => clear());
    const start = async (kind: keyof typeof scripts): Promise<ServiceProcess> => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      // with the options of the script in package.json: what ships is measured
      const flags = manifest.scripts[scripts[kind]].split(' ').slice(1, -1);
      const child = place.start(kind, { PORT: String(port), LOG_LEVEL: 'warn', ...env }, flags);
      running.add(child);
      const stop = async () => {
        child.kill('SIGTERM');
        await child.ended();
        running.delete(child);
      };
      resources.defer(stop);
      if (kind !== 'worker') await untilReady(child, url);
      return { pid: child.process.pid!, url, child, stop };
    };
    const main = await start(owner);
    const { url: databaseUrl } = JSON.parse(
      await readFile(path.join(place.dataDir, 'postgres.json'), 'utf8'),
    );
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'bench' });
    await client.connect();
    resources.defer(() => client.end());
    const { headers } = await logIn(main.url, place.admin);
    return {
      ...main,
      databaseUrl,
      client,
      api: apiAt(main.url, headers),
      join: start,
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    };
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
}
