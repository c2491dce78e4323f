import type { PoolClient } from 'pg';
import { type CopiedLines, copyCsv, copyJson } from './copy-out.ts';
import type { Db } from './database.ts';
import { withLiterals } from './literals.ts';

/** One moment of the database, held open for reading. */
export interface Snapshot {
  query<R>(text: string, values?: unknown[]): Promise<R[]>;
  /**
   * Reads a query of any size in batches of rows (as arrays of values, in the order of the columns). The next
   * batch is fetched while the caller works on the one before, so memory holds two of them.
   */
  batches(text: string, values: unknown[], size: number): AsyncGenerator<unknown[][]>;
  /** Reads a query (with `?` for its values) of any size as lines of CSV that the server writes. */
  csv(text: string, values: unknown[]): AsyncGenerator<CopiedLines>;
  /** Reads a query (with `?` for its values) of one column of JSON texts of any size, one a line. */
  json(text: string, values: unknown[]): AsyncGenerator<CopiedLines>;
  /** How many rows the server expects a query (with `?` for its values) to give. */
  expected(text: string, values: unknown[]): Promise<number>;
}

/** Reads through a connection that is in a transaction which sees one moment of the database. */
export function snapshotOn(client: PoolClient): Snapshot {
  let cursors = 0;
  return {
    async query<R>(text: string, values: unknown[] = []) {
      return (await client.query(text, values)).rows as R[];
    },
    async *batches(text, values, size) {
      cursors += 1;
      const name = `batch_${cursors}`;
      await client.query(`declare ${name} no scroll cursor for ${text}`, values);
      const fetch = () => client.query({ text: `fetch ${size} from ${name}`, rowMode: 'array' });
      let next = fetch();
      try {
        for (;;) {
          const { rows } = await next;
          if (rows.length === 0) return;
          next = fetch();
          // a failure is met at the next turn, or not at all when the reader leaves
          next.catch(() => undefined);
          yield rows as unknown[][];
        }
      } finally {
        await next.catch(() => undefined);
        await client.query(`close ${name}`).catch(() => undefined);
      }
    },
    csv: (text, values) => copyCsv(client, withLiterals(text, values)),
    json: (text, values) => copyJson(client, withLiterals(text, values)),
    async expected(text, values) {
      const { rows } = await client.query(`explain (format json) ${withLiterals(text, values)}`);
      return rows[0]['QUERY PLAN'][0].Plan['Plan Rows'];
    },
  };
}

/**
 * Runs `work` on one repeatable-read, read-only snapshot: whatever is written meanwhile, all it reads belongs
 * together.
 */
export async function withSnapshot<T>(db: Db, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const client: PoolClient = await db.client.acquireConnection();
  const snapshot = snapshotOn(client);
  try {
    await client.query('begin isolation level repeatable read read only');
    // every row is read, so plans are to be good for the whole
    await client.query('set local cursor_tuple_fraction = 1');
    const result = await work(snapshot);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    await db.client.releaseConnection(client);
  }
}
