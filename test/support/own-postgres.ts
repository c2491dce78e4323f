import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { prepareDatabase } from '../../migrations/prepare.ts';
import { openDatabase } from '../../platform/database.ts';
import type { EmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.ts';
import { openEmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.ts';
import type { TestDatabase } from './database.ts';
import { processesIn } from './processes.ts';

/** A PostgreSQL of the test's own, with a migrated database, which may be stopped, started and frozen. */
export async function startOwnPostgres() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-own-postgres-'));
  const open = () => openEmbeddedPostgres({ dataDir: folder, log: pino({ level: 'silent' }) });
  let server: EmbeddedPostgres | undefined = await open();
  const { url } = server;
  const db = openDatabase({ url, name: 'test', poolMax: 2 });
  await prepareDatabase(db);
  await db.destroy();
  let frozen: number[] = [];
  /** Processes of a server come and go: one may have ended since they were listed. */
  const tell = (pid: number, signal: 'SIGSTOP' | 'SIGCONT') => {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const thaw = () => {
    for (const pid of frozen) tell(pid, 'SIGCONT');
    frozen = [];
  };
  const stop = async () => {
    await server?.stop();
    server = undefined;
  };
  return {
    database: { url, drop: async () => undefined } satisfies TestDatabase,
    stop,
    async start() {
      server = await open();
      if (server.url !== url) throw new Error(`the server came back at ${server.url}`);
    },
    /** Lets no process of it go on, so that it neither answers nor refuses. */
    freeze() {
      frozen = processesIn(path.join(folder, 'postgres'));
      for (const pid of frozen) tell(pid, 'SIGSTOP');
    },
    thaw,
    async remove() {
      thaw();
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
