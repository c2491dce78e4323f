import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openDatabase } from '../../platform/database.ts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A fresh, migrated and seeded database of the test's own: a clone of the run's template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = openDatabase({ url: serverUrl, name: 'test', poolMax: 1 });
  try {
    // cloning needs the template to itself; files that start together wait for each other
    await admin.raw('select pg_advisory_lock(1)');
    await admin.raw(`create database ${name} template estate_template strategy file_copy`);
    await admin.raw('select pg_advisory_unlock(1)');
  } finally {
    await admin.destroy();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      const connection = openDatabase({ url: serverUrl, name: 'test', poolMax: 1 });
      try {
        await connection.raw(`drop database if exists ${name} with (force)`);
      } finally {
        await connection.destroy();
      }
    },
  };
}
