import type pg from 'pg';
import { to } from 'pg-copy-streams';
import { median, timesOf } from './measure.ts';

const ROUNDS = 5;

/**
 * U, the unit of the bench, in milliseconds: the median of five copies of all cards to nowhere by the server
 * itself, after one that warms up.
 */
export async function measureU(client: pg.Client): Promise<number> {
  const times = await timesOf(ROUNDS + 1, () => client.query(`COPY (SELECT * FROM cards) TO '/dev/null'`));
  return median(times.slice(1));
}

/** Vacuums what was loaded: otherwise autovacuum does so, for minutes, beside what is measured meanwhile. */
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

/** Ids of so many active cards of a type, in an order that has nothing to do with their names. */
export async function cardIds(client: pg.Client, type: string, count: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id from cards where type = $1 and status = 'ACTIVE' order by md5(id::text) limit $2`,
    [type, count],
  );
  return rows.map(({ id }) => id);
}

/** Marks topics by which reports are cached as changed, those of all cards by default, without changing anything. */
export async function invalidate(client: pg.Client, topics?: string[]): Promise<void> {
  await client.query(
    `select record_events('[]', coalesce($1::text[],
       array(select topic from topic_versions where topic like 'cards:%')))`,
    [topics],
  );
}
