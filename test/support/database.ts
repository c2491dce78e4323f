import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type Db, openDatabase, type Sql } from '../../platform/database.ts';
import { until } from './until.ts';

export type TestDatabase = { url: string; drop(): Promise<void> };

/** The address of a database of the run's server: of its Unix socket, if it has one. */
function addressOf(database: string): string {
  const url = new URL(inject('serverUrl'));
  url.pathname = `/${database}`;
  if (inject('socketFolder')) url.hostname = encodeURIComponent(inject('socketFolder'));
  return url.href;
}

let server: Db | undefined;

/** One connection makes and drops the databases of all files that share a process: one more for each would cost half as much again. */
const onServer = async (statement: string): Promise<unknown> => {
  server ??= openDatabase({ url: addressOf('postgres'), name: 'test', poolMax: 1 });
  return await server.raw(statement);
};

/** A fresh, migrated and seeded database of the test's own: a clone of the run's template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  // cloning needs the template to itself; files that start together wait for each other
  await onServer('select pg_advisory_lock(1)');
  try {
    return await createDatabase('test', 'template estate_template strategy file_copy');
  } finally {
    await onServer('select pg_advisory_unlock(1)');
  }
}

/** A database without any table. */
export const createEmptyDatabase = () => createDatabase('empty', '');

async function createDatabase(prefix: string, options: string): Promise<TestDatabase> {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`;
  await onServer(`create database ${name} ${options}`);
  return {
    url: addressOf(name),
    async drop() {
      await onServer(`drop database if exists ${name} with (force)`);
    },
  };
}

/** Lets a transaction of a test be silent for as long as the test waits in it. */
export async function mayBeSilent(sql: Sql): Promise<void> {
  await sql.raw('set local idle_in_transaction_session_timeout = 0');
}

/** Ends a connection that waits for a lock on a table of this database, as soon as there is one. */
export async function endWaiting(db: Db): Promise<void> {
  await until('a connection that waits for a table', async () => {
    const { rows } = await db.raw(`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'relation' and not granted
        and database = (select oid from pg_database where datname = current_database())`);
    return rows[0];
  });
}
