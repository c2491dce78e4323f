import os from 'node:os';
import type { PoolClient } from 'pg';
import { type CopiedLines, type CopyForm, copyInOrder, copyOut } from './copy-out.ts';
import type { Db } from './database.ts';
import { literal, withLiterals } from './literals.ts';

/** A statement with `?` for its values. */
export interface Statement {
  sql: string;
  bindings: readonly unknown[];
}

/** A part of a table's rows: returns the condition that a column with their ids is in that part. */
export type IdRange = (column: string) => string;

/** Selects the complete table. */
export const entireTable: IdRange = () => 'true';

/** A snapshot of the database, open for reading. */
export interface Snapshot {
  /** Runs a query, with `?` or `$1` for its values. */
  query<R>(text: string, values?: unknown[]): Promise<R[]>;
  /**
   * Reads a query (with `?` for its values) of any size in batches of rows (as arrays of values, in the order of the columns). The next
   * batch is fetched while the caller works on the one before, so memory holds two of them.
   */
  batches(text: string, values: unknown[], size: number): AsyncGenerator<unknown[][]>;
  /** Reads a query (with `?` for its values) of one column of JSON texts of any size, one a line. */
  json(text: string, values: unknown[]): AsyncGenerator<CopiedLines>;
  /** Reads a query (with `?` for its values) of any size in any form. */
  lines(form: CopyForm, text: string, values: readonly unknown[]): AsyncGenerator<CopiedLines>;
  /**
   * Reads lines of any form for ranges of a table's ids in parallel, each range on a connection of the same snapshot, as many as
   * the pool has to spare.
   * @param statement returns the query of a range, in the order of ids.
   */
  ranges(
    form: CopyForm,
    table: string,
    statement: (range: IdRange) => Statement,
  ): AsyncGenerator<CopiedLines>;
  /**
   * Reads the lines of several parts in parallel in the same way, and returns them in the order of the parts.
   * @param most maximum number of connections. @param statements returns the queries for a number of connections.
   */
  parts(
    form: CopyForm,
    most: number,
    statements: (connections: number) => Statement[],
  ): AsyncGenerator<CopiedLines>;
  /** How many rows the server expects a query (with `?` for its values) to return. */
  expected(text: string, values: readonly unknown[]): Promise<number>;
}

/** Number of ids of a range: large enough that its planning time (1 to 3 ms) does not matter. */
const RANGE = 5_000;
/** Maximum number of buffered chunks of a range while the previous one is read: about half of a range. */
const WAITING = 32;
/**
 * All rows are read in the order of their ids. If the table is not in that order, the planner would estimate one page per row,
 * choose another index and sort.
 */
const BY_ID = 'set local seq_page_cost = 0.01; set local random_page_cost = 0.01';
/** Maximum connections of one snapshot: the writer of a file cannot consume more. */
const CONNECTIONS = Math.min(4, os.availableParallelism());

/** At most `most` connections that share the snapshot of `client`, which is the first of them. */
type Connections = (
  client: PoolClient,
  most: number,
) => Promise<{ clients: PoolClient[]; release(): Promise<void> }>;

const alone: Connections = async (client) => ({ clients: [client], release: async () => undefined });

/** A statement with `$1`, `$2` and so on in the places of `?`. Texts in it hold no `?`. */
function numbered(sql: string): string {
  let n = 0;
  return sql.replaceAll('?', () => {
    n += 1;
    return `$${n}`;
  });
}

/** Reads through a connection that is in a repeatable-read transaction. */
export function snapshotOn(client: PoolClient, connections: Connections = alone): Snapshot {
  let cursors = 0;
  return {
    async query<R>(text: string, values: unknown[] = []) {
      return (await client.query(values.length > 0 ? numbered(text) : text, values)).rows as R[];
    },
    async *batches(text, values, size) {
      cursors += 1;
      const name = `batch_${cursors}`;
      await client.query(`declare ${name} no scroll cursor for ${numbered(text)}`, values);
      const fetch = () => client.query({ text: `fetch ${size} from ${name}`, rowMode: 'array' });
      let next = fetch();
      try {
        for (;;) {
          const { rows } = await next;
          if (rows.length === 0) return;
          next = fetch();
          // A failure is thrown by the next iteration, or ignored if the reader has stopped.
          next.catch(() => undefined);
          yield rows as unknown[][];
        }
      } finally {
        await next.catch(() => undefined);
        await client.query(`close ${name}`).catch(() => undefined);
      }
    },
    json: (text, values) => copyOut(client, 'json', withLiterals(text, values)).lines(),
    lines: (form, text, values) => copyOut(client, form, withLiterals(text, values)).lines(),
    async *ranges(form, table, statement) {
      const { clients, release } = await connections(client, CONNECTIONS);
      let after: string | undefined;
      let last = false;
      try {
        for (const client of clients) await client.query(BY_ID);
        yield* copyInOrder(clients, async (client) => {
          if (last) return undefined;
          const from = after;
          after = await endOfRange(client, table, from);
          last = after === undefined;
          const { sql, bindings } = statement(idRange(from, after));
          return copyOut(client, form, withLiterals(sql, bindings), WAITING);
        });
      } finally {
        await release();
      }
    },
    async *parts(form, most, statements) {
      const { clients, release } = await connections(client, Math.min(most, CONNECTIONS));
      const waiting = statements(clients.length);
      try {
        yield* copyInOrder(clients, async (client) => {
          const next = waiting.shift();
          return next && copyOut(client, form, withLiterals(next.sql, next.bindings), WAITING);
        });
      } finally {
        await release();
      }
    },
    async expected(text, values) {
      const { rows } = await client.query(`explain (format json) ${withLiterals(text, values)}`);
      return rows[0]['QUERY PLAN'][0].Plan['Plan Rows'];
    },
  };
}

/** The last id of the range after an id; undefined when the range continues to the end. */
async function endOfRange(
  client: PoolClient,
  table: string,
  after: string | undefined,
): Promise<string | undefined> {
  const where = after === undefined ? '' : `where id > ${literal(after)}`;
  const { rows } = await client.query<{ id: string }>(
    `select id from ${table} ${where} order by id offset ${RANGE - 1} limit 1`,
  );
  return rows[0]?.id;
}

function idRange(after: string | undefined, to: string | undefined): IdRange {
  return (column) => {
    const bounds = [
      ...(after === undefined ? [] : [`${column} > ${literal(after)}`]),
      ...(to === undefined ? [] : [`${column} <= ${literal(to)}`]),
    ];
    return bounds.length > 0 ? `(${bounds.join(' and ')})` : entireTable(column);
  };
}

// All rows are read, so plans are optimised for the total time; readers may be slow.
const SETTINGS = 'set local cursor_tuple_fraction = 1; set local idle_in_transaction_session_timeout = 0';

/** Whether a request may take another connection: no other request waits, and half of the pool remains free. */
function hasSpareConnection({ client: { pool } }: Db): boolean {
  return pool.numPendingAcquires() === 0 && pool.numUsed() < pool.max / 2;
}

/** Takes connections that the pool has to spare. */
function poolConnections(db: Db): Connections {
  return async (client, most) => {
    const more: PoolClient[] = [];
    const release = async () => {
      for (const client of more) {
        await client.query('rollback').catch(() => undefined);
        await db.client.releaseConnection(client);
      }
    };
    try {
      while (more.length + 1 < most && hasSpareConnection(db)) {
        more.push(await db.client.acquireConnection());
      }
      if (more.length > 0) {
        const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id');
        const begin = `begin isolation level repeatable read read only; set transaction snapshot ${literal(rows[0]!.id)}`;
        await Promise.all(more.map((client) => client.query(`${begin}; ${SETTINGS}`)));
      }
    } catch (error) {
      await release();
      throw error;
    }
    return { clients: [client, ...more], release };
  };
}

/** Runs `work` on one repeatable-read, read-only snapshot. */
export async function withSnapshot<T>(db: Db, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const client: PoolClient = await db.client.acquireConnection();
  const snapshot = snapshotOn(client, poolConnections(db));
  try {
    await client.query(`begin isolation level repeatable read read only; ${SETTINGS}`);
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
