import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { type Child, startChild } from './child.ts';
import { until } from './until.ts';

const entries = {
  all: 'main.ts',
  api: 'api/main.ts',
  worker: 'workers/main.ts',
  migrate: 'migrations/main.ts',
};

/** A place for the service's processes to be started in, as a user starts them. */
export interface Place {
  /** The data folder that its processes share. */
  dataDir: string;
  admin: { email: string; password: string };
  /** @param flags options of Node in place of those that tests use. */
  start(entry: keyof typeof entries, env?: Record<string, string | undefined>, flags?: string[]): Child;
  /** Kills whatever still runs and removes the folder. */
  clear(): Promise<void>;
}

/** Long enough for a start on a machine that does other things as well. */
const READY_MS = 90_000;

export async function createPlace(): Promise<Place> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-place-'));
  // run by root, PostgreSQL works as a user of its own, who must be able to reach its data
  await chmod(folder, 0o755);
  const dataDir = path.join(folder, 'data');
  const admin = { email: 'admin@place.example', password: randomBytes(18).toString('base64url') };
  const children: Child[] = [];
  return {
    dataDir,
    admin,
    start(entry, env = {}, flags) {
      const settings = {
        HOST: '127.0.0.1',
        DATA_DIR: dataDir,
        DATABASE_URL: undefined,
        SECRET_KEY: undefined,
        DEMO: 'false',
        ADMIN_EMAIL: admin.email,
        ADMIN_PASSWORD: admin.password,
        LOG_LEVEL: 'silent',
        ...env,
      };
      const file = path.join(import.meta.dirname, '../..', entries[entry]);
      const child = startChild(file, [], settings, flags ? { flags } : {});
      children.push(child);
      return child;
    },
    async clear() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => child.ended()));
      for (const pid of processesIn(dataDir)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // it was on its way out
        }
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Processes that work in the folder or were started with its name, PostgreSQL's among them; needs /proc. */
export function processesIn(folder: string): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const cwd = readlinkSync(`/proc/${name}/cwd`);
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      if (cwd.startsWith(folder) || command.includes(folder)) found.push(Number(name));
    } catch {
      // it has ended meanwhile
    }
  }
  return found;
}

/** A port that was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Waits until the process says that it can serve requests. @throws Error with its output when it ends instead. */
export async function untilReady(child: Child, url: string): Promise<void> {
  await until(
    `${url} to be ready`,
    async () => {
      if (child.process.exitCode !== null || child.process.signalCode !== null)
        throw new Error(`the process has ended:\n${(await child.ended()).output}`);
      const answer = await fetch(`${url}/api/health/ready`).catch(() => undefined);
      await answer?.arrayBuffer();
      return answer?.status === 200;
    },
    READY_MS,
  );
}

/** Sends one request; rejects if there is no response. Paths begin after `/api/v1`; a text is sent as CSV, other bodies as JSON. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<RemoteAnswer>;

/** A logged-in caller of a running service; responses of any status are returned. */
export type Remote = { send: Send; headers: Record<string, string>; url: string };

export interface RemoteAnswer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  /** The parsed body if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  body: any;
}

export async function logIn(url: string, credentials: { email: string; password: string }): Promise<Remote> {
  const sendWith =
    (login: Record<string, string>): Send =>
    async (method, path, body, more = {}) => {
      const isText = typeof body === 'string';
      const type = isText ? 'text/csv' : 'application/json';
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { ...login, ...(body === undefined ? {} : { 'content-type': type }), ...more },
        ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '') && bytes.length > 0;
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        body: isJson ? JSON.parse(String(bytes)) : undefined,
      };
    };
  const { body } = await sendWith({})('POST', '/auth/login', credentials);
  const headers = { authorization: `Bearer ${body.access_token}` };
  return { url, headers, send: sendWith(headers) };
}
