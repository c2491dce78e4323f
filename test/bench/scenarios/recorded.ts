import type pg from 'pg';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { openDatabase } from '../../../platform/database.ts';
import { benchContext } from '../harness/context.ts';
import { startProgram } from '../harness/programs.ts';
import type { RecordedPaths, RecordedQuery } from '../programs/queries.ts';

/** By path, what reads the response to a request in the service. */
export type Reads = Record<string, (ctx: Ctx) => Promise<unknown>>;

/**
 * Has the functions of the service read, and records the queries that each sends the second time, so that counts and
 * whatever else is cached between requests are not among them.
 */
async function recordQueries(databaseUrl: string, reads: Reads): Promise<RecordedPaths> {
  const db = openDatabase({ url: databaseUrl, name: 'bench recorder', poolMax: 1 });
  try {
    const ctx = await benchContext(db);
    const paths: RecordedPaths['paths'] = {};
    let recorded: RecordedQuery[] = [];
    // the only connection itself, since not all queries go through knex
    const connection: pg.Client = await db.client.acquireConnection();
    const send = connection.query.bind(connection) as (...given: unknown[]) => unknown;
    connection.query = ((query: RecordedQuery, ...rest: unknown[]) => {
      const { name, text, values } = query;
      recorded.push({ ...(name === undefined ? {} : { name }), text, values });
      return send(query, ...rest);
    }) as never;
    await db.client.releaseConnection(connection);
    for (const [path, read] of Object.entries(reads)) {
      await read(ctx);
      recorded = [];
      await read(ctx);
      paths[path] = recorded;
      recorded = [];
    }
    return { databaseUrl, paths };
  } finally {
    await db.destroy();
  }
}

/** Starts a server that responds with the service's own queries and nothing around them. */
export async function startRecorded(databaseUrl: string, reads: Reads) {
  const recorded = await recordQueries(databaseUrl, reads);
  const program = startProgram('queries');
  return { program, url: await program.ask<string>(recorded), paths: Object.keys(reads) };
}
