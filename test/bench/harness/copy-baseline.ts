import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { median, timed } from './measure.ts';

const ROUNDS = 3;
const tables = ['cards', 'relations', 'events'];

/** Creates empty tables like the loaded ones, with every index and constraint, in another schema. */
async function createCopies(client: pg.Client): Promise<void> {
  await client.query('drop schema if exists copied cascade; create schema copied');
  for (const table of tables)
    await client.query(`create table copied.${table} (like public.${table} including all)`);
  const { rows } = await client.query<{ name: string; owner: string; definition: string }>(
    `select conname as name, conrelid::regclass::text as owner, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and conrelid = any($1::regclass[])`,
    [tables],
  );
  for (const { name, owner, definition } of rows) {
    const own = definition.replace(/ REFERENCES (cards|relations|events)\(/, ' REFERENCES copied.$1(');
    await client.query(`alter table copied.${owner} add constraint ${name} ${own}`);
  }
}

/** The columns of a table that are not computed. */
async function columnsOf(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows[0]!.columns;
}

/**
 * Milliseconds in which PostgreSQL itself copies the finished cards, relations and events from files into empty
 * tables with all constraints and indexes; the median of three rounds.
 */
export async function measureCopy(client: pg.Client): Promise<number> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-copy-'));
  try {
    // written and read by the server, which may be another user
    await chmod(folder, 0o777);
    const file = (table: string) => path.join(folder, table);
    const columns = new Map<string, string>();
    for (const table of tables) {
      columns.set(table, await columnsOf(client, table));
      await client.query(`copy ${table} (${columns.get(table)}) to '${file(table)}'`);
    }
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await createCopies(client);
      let ms = 0;
      for (const table of tables) {
        const sql = `copy copied.${table} (${columns.get(table)}) from '${file(table)}'`;
        ms += await timed(() => client.query(sql));
      }
      times.push(ms);
    }
    return median(times);
  } finally {
    await client.query('drop schema if exists copied cascade');
    await rm(folder, { recursive: true, force: true });
  }
}
