import type pg from 'pg';
import type { Send } from '../support/processes.ts';
import {
  applyEvent,
  type ChangeEvent,
  cardFields,
  differences,
  emptyInventory,
  flatten,
  type Inventory,
  relationFields,
  type Values,
} from '../support/replay.ts';
import type { History, World } from './world.ts';

/** Cards and relations as the tables hold them. */
export async function readTables(client: Pick<pg.Client, 'query'>): Promise<Inventory> {
  const inventory = emptyInventory();
  const cards = await client.query<Values & { id: string }>(
    'select id, type, subtype, number, name, alias, description, parent_id, external_id, status, approval_status, data_quality::float8 as data_quality, lifecycle, attributes from cards',
  );
  for (const row of cards.rows) inventory.cards.set(row.id, flatten(row, cardFields));
  const relations = await client.query<Values & { id: string }>(`
    select id, type, source_id, target_id, description, attributes from relations`);
  for (const row of relations.rows) inventory.relations.set(row.id, flatten(row, relationFields));
  return inventory;
}

export interface FullExport {
  /** The feed position that it includes. */
  position: number;
  rows: Map<string, Values>;
}

/** What an export job of one kind has made, as NDJSON; undefined while it has not ended. */
export async function readExport(send: Send, jobId: string, kind: 'cards' | 'relations') {
  const job = await send('GET', `/jobs/${jobId}`);
  if (job.body.status === 'failed' || job.body.status === 'cancelled')
    throw new Error(`the export of ${kind} is ${job.body.status}: ${JSON.stringify(job.body.error)}`);
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

/** How often events contain each of the texts that only one write has. */
function countTokens(events: ChangeEvent[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { event_type, data } of events) {
    const { changes = {} } = data;
    const texts = event_type.endsWith('.deleted')
      ? []
      : [changes.name?.new, changes.alias?.new, changes.description?.new, changes.external_id?.new];
    for (const text of new Set(texts)) {
      if (typeof text === 'string') counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  }
  return counts;
}

const expected = { accepted: [1, 1], refused: [0, 0], lost: [0, 1] } as const;

/** Every accepted write is in the feed once, every refused one not at all, every lost one at most once. */
export function verifyWrites(world: World, events: ChangeEvent[], history: History): void {
  const counts = countTokens(events);
  for (const [token, outcome] of world.tokens) {
    const count = counts.get(token) ?? 0;
    const [least, most] = expected[outcome];
    if (count < least || count > most)
      history.fault(`the write of "${token}" was ${outcome} and is ${count} times in the feed`);
  }
}

/** No two events share a position, and they come in order. */
export function verifyOrder(who: string, positions: number[], all: number[], history: History): void {
  const wrong = positions.findIndex((position, at) => position !== all[at]);
  if (wrong >= 0) {
    history.fault(`${who} got ${positions[wrong]} as event ${wrong + 1} where ${all[wrong]} was next`);
  } else if (positions.length !== all.length) {
    history.fault(`${who} got ${positions.length} of ${all.length} events`);
  }
}

/** A replay of all events, and one of those since a full export, equal the tables. */
export function verifyReplay(
  events: ChangeEvent[],
  exported: { cards: FullExport; relations: FullExport } | undefined,
  stored: Inventory,
  history: History,
): void {
  const replay = (what: string, inventory: Inventory, wanted: (event: ChangeEvent) => boolean) => {
    try {
      for (const event of events) if (wanted(event)) applyEvent(inventory, event);
      for (const text of differences(inventory, stored)) history.fault(`${what}: ${text}`);
    } catch (error) {
      history.fault(`${what}: ${(error as Error).message}`);
    }
  };
  replay('the replay from nothing', emptyInventory(), () => true);
  if (!exported) return;
  const { cards, relations } = exported;
  replay(
    'the full export with the changes after it',
    { cards: cards.rows, relations: relations.rows },
    (event) => {
      const { position } = event.relation_id === null ? cards : relations;
      return Number(event.position) > position;
    },
  );
}

type JobView = { id: string; status: string; counts: Record<string, number> | null; error: unknown };

/** Every job has ended, and imports have done to each row what they say. */
export function verifyJobs(world: World, jobs: JobView[], events: ChangeEvent[], history: History): void {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const counts = countTokens(events);
  for (const { id, what, prefix, rows, faultyRows, cancelled } of world.jobs) {
    const job = byId.get(id);
    if (!job) history.fault(`the ${what} ${id} was accepted and is not there`);
    else if (job.status !== 'succeeded' && !(cancelled && job.status === 'cancelled')) {
      history.fault(`the ${what} ${id} is ${job.status}: ${JSON.stringify(job.error)}`);
    } else if (prefix !== undefined) {
      const { total, created, updated, failed } = job.counts as Record<string, number>;
      const carried = Array.from({ length: rows! }, (_, at) => counts.get(`${prefix}r${at}`) ?? 0);
      const written = carried.filter((count) => count > 0).length;
      const say = (text: string) => history.fault(`the ${what} ${id} ${text}: ${JSON.stringify(job.counts)}`);
      if (total !== rows) say(`has not counted its ${rows} rows`);
      if (faultyRows !== undefined && failed !== faultyRows) say(`should have refused ${faultyRows} rows`);
      if (carried.some((count) => count > 1)) say('has written a row twice');
      const wanted = what === 'dry run' ? 0 : created! + updated!;
      if (written !== wanted) say(`has written ${written} rows and should have written ${wanted}`);
    }
  }
}

/** All pages of a list by cursor. */
export async function readAll<T>(send: Send, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await send('GET', `${path}?page_size=200&cursor=${encodeURIComponent(cursor)}`);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
    items.push(...body.items);
    cursor = body.next_cursor;
  }
  return items;
}
