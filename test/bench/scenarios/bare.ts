import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { openDatabase } from '../../../platform/database.ts';
import { benchContext } from '../harness/context.ts';
import { startNode } from '../harness/processes.ts';
import type { BareQuery, BareServerInput } from './bare-server.ts';

const LOOK_MS = 25;

/** What answers a request in the service, and under which path the floor serves the same. */
export type Reads = Record<string, (ctx: Ctx) => Promise<unknown>>;

/**
 * Lets the service's own functions read, and notes the queries that each sends when it has read before, so that
 * counts and what else is kept between requests are not among them.
 */
async function recordQueries(databaseUrl: string, reads: Reads): Promise<BareServerInput['paths']> {
  const db = openDatabase({ url: databaseUrl, name: 'bench recorder', poolMax: 1 });
  try {
    const ctx = await benchContext(db);
    const paths: BareServerInput['paths'] = {};
    let noted: BareQuery[] = [];
    // the one connection is listened to itself, since not all queries go through knex
    const connection: pg.Client = await db.client.acquireConnection();
    const send = connection.query.bind(connection) as (...given: unknown[]) => unknown;
    connection.query = ((query: BareQuery, ...rest: unknown[]) => {
      const { name, text, values } = query;
      noted.push({ ...(name === undefined ? {} : { name }), text, values });
      return send(query, ...rest);
    }) as never;
    await db.client.releaseConnection(connection);
    for (const [path, read] of Object.entries(reads)) {
      await read(ctx);
      noted = [];
      paths[path] = noted;
      await read(ctx);
      noted = [];
    }
    return paths;
  } finally {
    await db.destroy();
  }
}

/** A running floor. */
export interface Bare {
  url: string;
  stop(): Promise<void>;
}

/** Starts a process that answers with the service's own queries and nothing around them. */
export async function startBare(databaseUrl: string, reads: Reads): Promise<Bare> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-bare-'));
  const input = path.join(folder, 'input.json');
  const paths = await recordQueries(databaseUrl, reads);
  await writeFile(input, JSON.stringify({ databaseUrl, paths } satisfies BareServerInput));
  const server = startNode({
    entry: 'test/bench/scenarios/bare-server.ts',
    env: { BARE_INPUT: input },
    logFile: path.join(folder, 'log'),
  });
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  for (;;) {
    const found = /listening on (\d+)/.exec(server.logTail());
    if (found) return { url: `http://127.0.0.1:${found[1]}`, stop };
    if (!server.running()) throw new Error(`The floor has ended:\n${server.logTail()}`);
    await delay(LOOK_MS);
  }
}
