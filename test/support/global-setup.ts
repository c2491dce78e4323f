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
    /** The server's address with the database `template1` replaced by a name of the test's choice. */
    serverUrl: string;
  }
}

const log = pino({ level: 'silent' });

/** Stores the password with one iteration instead of 4,096, which take 2 ms of each of several thousand connections. */
async function weakenPassword(db: Db, { username, password }: URL): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.raw('set local scram_iterations = 1');
    await sql.raw(`alter role ${username} password '${password}'`);
  });
}

/** Makes the cluster that runs copy: its settings, and a migrated template database that each test file clones. */
async function makeCluster(dataDir: string): Promise<void> {
  const server = await openEmbeddedPostgres({ dataDir, log });
  const admin = openDatabase({ url: server.url, name: 'test setup', poolMax: 1 });
  // nothing here outlives the run: a disk that is waited for only makes it longer
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    await admin.raw(`alter system set ${setting} = off`);
  }
  await admin.raw('select pg_reload_conf()');
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
  await copy(dataDir, unfinished);
  // another run may have been first
  await rename(unfinished, prepared).catch(() => rm(unfinished, { recursive: true }));
}

/** One PostgreSQL for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const clearScratch = await useScratch();
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'estate-run-'));
  await prepare(dataDir);
  const server = await openEmbeddedPostgres({ dataDir, log });
  project.provide('serverUrl', server.url);
  return async () => {
    await server.stop();
    await clearScratch();
  };
}
