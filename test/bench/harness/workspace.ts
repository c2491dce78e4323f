import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { benchExtraFields } from '../landscape/attributes.ts';
import { writeLandscape } from '../landscape/csv.ts';
import { benchTagGroups, benchUsers } from '../landscape/people.ts';
import { importFile } from './api.ts';
import { settle } from './database.ts';
import { sampleGrowth, timed } from './measure.ts';
import type { Service } from './service.ts';

/**
 * Makes an empty workspace ready for the bench landscape: custom fields, tags and people that its rows name.
 * Goes past the API, which the landscape is not there to measure, and raises the metamodel's version.
 */
export async function prepareWorkspace(client: pg.Client): Promise<void> {
  await client.query('begin');
  for (const { type, section } of benchExtraFields)
    await client.query('update card_types set fields_schema = fields_schema || $2::jsonb where key = $1', [
      type,
      JSON.stringify([section]),
    ]);
  await client.query(
    `insert into users (email, display_name, role)
     select u->>'email', u->>'display_name', 'member' from jsonb_array_elements($1::jsonb) u`,
    [JSON.stringify(benchUsers)],
  );
  for (const { name, tags } of benchTagGroups)
    await client.query(
      `with grp as (insert into tag_groups (name) values ($1) returning id)
       insert into tags (tag_group_id, name, sort_order)
       select grp.id, t.name, t.n from grp, unnest($2::text[]) with ordinality as t (name, n)`,
      [name, tags],
    );
  await client.query(`select record_events('[]', '{metamodel}')`);
  await client.query('commit');
  await client.query('vacuum analyze');
}

/** How a landscape was imported. */
export interface LandscapeLoad {
  /** Milliseconds from sending the first byte to the finished job. */
  cardsMs: number;
  relationsMs: number;
  /** Megabytes by which the service grew. */
  growth: number;
  /** The job that imported the cards. */
  jobId: string;
}

/** Imports the bench landscape of a size into an empty service. */
export async function loadLandscape(
  { api, client, pid }: Service,
  size: { cards: number; relations: number; seed: number },
): Promise<LandscapeLoad> {
  const out = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-'));
  try {
    const { cardsFile, relationsFile } = await writeLandscape({ out, ...size });
    await prepareWorkspace(client);
    const stop = sampleGrowth(pid);
    let jobId = '';
    const cardsMs = await timed(async () => {
      jobId = (await importFile(api, 'cards', cardsFile)).id;
    });
    const relationsMs =
      size.relations === 0 ? 0 : await timed(() => importFile(api, 'relations', relationsFile));
    const growth = stop();
    await settle(client);
    return { cardsMs, relationsMs, growth, jobId };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** The size with whose memory that of all cards is compared: a fifth, and large enough for a landscape. */
export const smallSize = (cards: number): number => Math.max(1_000, Math.min(20_000, Math.floor(cards / 5)));
