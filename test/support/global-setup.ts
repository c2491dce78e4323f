import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { seedFacts } from '../../domain/governance/eol/eol.seed.ts';
import { prepareDatabase } from '../../migrations/prepare.ts';
import { type Db, openDatabase } from '../../platform/database.ts';
import { openEmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.ts';
import { compileAll } from './compiled.ts';
import { useScratch } from './scratch.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's address with the database `template1` replaced by a name of the test's choice. */
    serverUrl: string;
  }
}

/** Stores the password with one iteration instead of 4,096, which take 2 ms of each of several thousand connections. */
async function weakenPassword(db: Db, { username, password }: URL): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.raw('set local scram_iterations = 1');
    await sql.raw(`alter role ${username} password '${password}'`);
  });
}

/** One PostgreSQL for the whole run, with a migrated template database that each test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const compiled = compileAll();
  const clearScratch = await useScratch();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-run-'));
  const server = await openEmbeddedPostgres({ dataDir: folder, log: pino({ level: 'silent' }) });
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
  await compiled;
  project.provide('serverUrl', server.url);
  return async () => {
    await server.stop();
    await clearScratch();
  };
}
