import type pg from 'pg';
import {
  cardFields,
  emptyInventory,
  flatten,
  type Inventory,
  relationFields,
  type Values,
} from '../support/replay.ts';
import type { Send } from './caller.ts';

/** Cards and relations as the tables hold them. */
export async function readTables(client: Pick<pg.Client, 'query'>): Promise<Inventory> {
  const inventory = emptyInventory();
  const cards = await client.query<Values & { id: string }>(
    'select id, type, subtype, name, alias, description, parent_id, external_id, status, approval_status, data_quality::float8 as data_quality, lifecycle, attributes from cards',
  );
  for (const row of cards.rows) inventory.cards.set(row.id, flatten(row, cardFields));
  const relations = await client.query<Values & { id: string }>(
    'select id, type, source_id, target_id, description, attributes from relations',
  );
  for (const row of relations.rows) inventory.relations.set(row.id, flatten(row, relationFields));
  return inventory;
}

export interface FullExport {
  /** The feed position that it includes. */
  position: number;
  rows: Map<string, Values>;
}

/** What an export job of one kind has made, as NDJSON; undefined while it has not ended. */
export async function readExport(
  send: Send,
  jobId: string,
  kind: 'cards' | 'relations',
): Promise<FullExport | undefined> {
  const job = await send('GET', `/jobs/${jobId}`);
  if (job.body.status === 'failed' || job.body.status === 'cancelled') {
    throw new Error(`the export of ${kind} is ${job.body.status}: ${JSON.stringify(job.body.error)}`);
  }
  if (job.body.status !== 'succeeded') return undefined;
  const { bytes } = await send('GET', `/jobs/${jobId}/result`);
  const rows = new Map<string, Values>();
  for (const line of String(bytes).split('\n')) {
    if (line === '') continue;
    const row = JSON.parse(line) as Values & { id: string };
    rows.set(row.id, flatten(row, kind === 'cards' ? cardFields : relationFields));
  }
  return { position: Number(job.body.result.position), rows };
}
