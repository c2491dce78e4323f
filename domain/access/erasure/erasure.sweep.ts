import type { Knex } from 'knex';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { identityEvents } from './erasure.identity.ts';
import type { Eraser, UserIdentity } from './erasure.rules.ts';
import type { TextTable } from './erasure.tables.ts';

/** Maximum rows of one statement. */
const ROWS = 1_000;

/** The erased user, and how to find rows that contain the name. */
export interface ErasedUser {
  id: string;
  /** LIKE patterns. */
  patterns: string[];
  eraser: Eraser;
}

/** LIKE patterns of every name, address and mention, in plain text and in JSON text. */
export function patternsOf({ id, emails, names }: UserIdentity): string[] {
  const words = [...emails, ...names].flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]);
  return [...new Set([...words, `(user:${id})`])].map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
}

/** Positions of the feed: after `after`, up to and including `through`. */
export interface FeedRange {
  after: number;
  through: number;
}

/**
 * Rewrites the events of a range that contain the user's name. Events of the account itself also lose the network
 * address.
 * @param which `identity` for the events with former names, `others` for the rest.
 * @returns the number of rewritten events.
 */
export async function sweepEvents(
  sql: Sql,
  stretch: FeedRange,
  person: ErasedUser,
  which: 'identity' | 'others',
): Promise<number> {
  let changed = 0;
  for (let { after } = stretch; ; ) {
    const rows = await query(sql).rows`select e.position, e.event_type, e.scope, e.user_id, e.data,
      e.data::text like ${`%${person.id}%`} as about from events e
       where e.position > ${after} and e.position <= ${stretch.through}
       and (e.event_type = any(${identityEvents}::text[])) = ${which === 'identity'}
         and (e.data::text ilike any(${person.patterns}::text[])
         or (e.user_id = ${person.id}::uuid and e.event_type like 'auth.%'))
       order by e.position limit ${embed(ROWS)}`;
    const rewritten = (rows as EventRow[])
      .map((row) => ({ ...row, erased: erasedData(row, person) }))
      .filter(({ erased, data }) => differ(erased, data));
    if (rewritten.length > 0) {
      await query(sql).run`update events e set data = v.data
         from jsonb_to_recordset(${JSON.stringify(rewritten.map(({ position, erased }) => ({ position, data: erased })))}::jsonb) as v(position bigint, data jsonb) where e.position = v.position`;
      changed += rewritten.length;
    }
    if (rows.length < ROWS) return changed;
    after = rows.at(-1)!.position;
  }
}

interface EventRow {
  position: number;
  event_type: string;
  scope: string;
  user_id: string | null;
  data: Record<string, unknown>;
  /** Whether the event contains the user's id. */
  about: boolean;
}

function erasedData(row: EventRow, { id, eraser }: ErasedUser): unknown {
  const about = row.about || row.user_id === id;
  // Texts of notifications are written by the service; other events also contain texts of users.
  const replace = row.scope === 'user' ? eraser.texts : eraser.members;
  const data = replace(row.data, about) as EventRow['data'];
  const own = row.user_id === id && row.event_type.startsWith('auth.') && 'address' in data;
  return own ? { ...data, address: null } : data;
}

/** Rewrites the texts of one table. @returns the number of rewritten rows. */
export async function sweepTable(
  sql: Knex.Transaction,
  spec: TextTable,
  person: ErasedUser,
): Promise<number> {
  const { text = [], json = [], mentions = [] } = spec;
  const columns = [...text, ...json, ...mentions];
  const hits = columns.map((column) => `t.${column}::text ilike any(?::text[])`).join(' or ');
  const about = spec.about ? `t.${spec.about} is not distinct from ?::uuid` : '?::uuid is null';
  const { rows } = await sql.raw(
    `select t.${spec.key} as key, ${about} as about, ${columns.map((column) => `t.${column}`).join(', ')}
     from ${spec.table} t where (${hits}) and ${spec.where ?? 'true'} order by t.${spec.key} for update`,
    [person.id, ...columns.map(() => person.patterns)],
  );
  let changed = 0;
  for (const row of rows) {
    const values: Record<string, unknown> = {};
    for (const column of columns) {
      const before = row[column];
      if (before === null) continue;
      const after = mentions.includes(column)
        ? person.eraser.mentions(before)
        : person.eraser.texts(before, row.about);
      if (differ(after, before)) values[column] = json.includes(column) ? JSON.stringify(after) : after;
    }
    if (Object.keys(values).length === 0) continue;
    await sql(spec.table)
      .where({ [spec.key]: row.key })
      .update(values);
    changed += 1;
  }
  return changed;
}

const differ = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);
