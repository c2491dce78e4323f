import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { seedFacts } from '../../domain/governance/eol/eol.facts.ts';
import { prepareDatabase } from '../../migrations/prepare.ts';
import { type Db, openDatabase } from '../../platform/database.ts';
import { openEmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.ts';
import { compileAll, preparedFolder } from './compiled.ts';
import { useScratch } from './scratch.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's address over TCP, for the database `postgres`. */
    serverUrl: string;
    /** The folder of the server's Unix socket; empty if it has none. */
    socketFolder: string;
  }
}

const log = pino({ level: 'silent' });

/** Longer paths of Unix sockets fail on some systems. */
const LONGEST_SOCKET_FOLDER = 80;

/** The folder of the server's Unix socket, if the system supports it: a query takes a fifth less CPU time than over TCP. */
function socketFolderOf(dataDir: string): string {
  const folder = path.join(dataDir, 'postgres');
  return folder.startsWith('/') && folder.length <= LONGEST_SOCKET_FOLDER ? folder : '';
}

/** Starts the server. No data outlives the run, so that no write needs to reach the disk. */
const openServer = (dataDir: string) =>
  openEmbeddedPostgres({
    dataDir,
    log,
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      // no database lives long enough to need it
      autovacuum: 'off',
      unix_socket_directories: socketFolderOf(dataDir),
    },
  });

/** Stores the password with one iteration instead of 4,096, which take 2 ms of each of several thousand connections. */
async function weakenPassword(db: Db, { username, password }: URL): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.raw('set local scram_iterations = 1');
    await sql.raw(`alter role ${username} password '${password}'`);
  });
}

/** Makes the cluster that runs copy, with a migrated template database that each test file clones. */
async function makeCluster(dataDir: string): Promise<void> {
  const server = await openServer(dataDir);
  const admin = openDatabase({ url: server.url, name: 'test setup', poolMax: 1 });
  await weakenPassword(admin, new URL(server.url));
  await admin.raw('create database estate_template');
  await admin.destroy();
  const url = new URL(server.url);
  url.pathname = '/estate_template';
  const template = openDatabase({ url: url.href, name: 'test setup', poolMax: 2 });
  await prepareDatabase(template);
  await seedFacts(template);
  await template.destroy();
  await server.stop();
}

const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);

/**
 * Fills the cache of compiled modules and puts a prepared cluster into the folder. Both take longer than a test file: the next run
 * of the same sources finds them.
 */
async function prepare(dataDir: string): Promise<void> {
  const prepared = preparedFolder();
  if (existsSync(prepared)) return void (await copy(`${prepared}/.`, dataDir));
  const compiled = compileAll();
  await makeCluster(dataDir);
  await compiled;
  const cache = path.dirname(prepared);
  for (const name of await readdir(cache)) {
    if (name.startsWith('prepared-'))
      await rm(path.join(cache, name), { recursive: true, force: true, maxRetries: 5 });
  }
  const unfinished = `${prepared}.${process.pid}`;
  // another run may have been first, or may have removed what is unfinished
  await copy(dataDir, unfinished)
    .then(() => rename(unfinished, prepared))
    .catch(() => rm(unfinished, { recursive: true, force: true }));
}

/** One PostgreSQL for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const clearScratch = await useScratch();
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'estate-run-'));
  await prepare(dataDir);
  const server = await openServer(dataDir);
  project.provide('serverUrl', server.url);
  project.provide('socketFolder', socketFolderOf(dataDir));
  return async () => {
    await server.stop();
    await clearScratch();
  };
}
