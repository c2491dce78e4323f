import pg from 'pg';
import { to } from 'pg-copy-streams';
import { median } from './stats.ts';

const ROUNDS = 5;

/** Milliseconds that a statement takes. */
export async function timed(client: pg.Client, sql: string): Promise<number> {
  const start = performance.now();
  await client.query(sql);
  return performance.now() - start;
}

/**
 * U, the unit of the bench, in milliseconds: the median of five copies of all cards to nowhere by the server
 * itself, after one that warms up.
 */
export async function measureU(client: pg.Client): Promise<number> {
  const sql = `COPY (SELECT * FROM cards) TO '/dev/null'`;
  await timed(client, sql);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await timed(client, sql));
  return median(times);
}

/**
 * Lets the database clear up behind what was loaded: otherwise it does so by itself, for minutes, beside whatever is measured
 * meanwhile.
 */
export async function settle(client: pg.Client): Promise<void> {
  await client.query('vacuum analyze');
  await client.query('checkpoint');
}

/** Mean bytes of a card's line in PostgreSQL's text form, its line break included. */
export async function meanCopyLine(client: pg.Client): Promise<number> {
  let bytes = 0;
  const stream = client.query(to('COPY (SELECT * FROM cards) TO STDOUT'));
  for await (const chunk of stream) bytes += (chunk as Buffer).length;
  return bytes / stream.rowCount;
}

/** A connection of the bench's own. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'bench' });
  await client.connect();
  return client;
}
