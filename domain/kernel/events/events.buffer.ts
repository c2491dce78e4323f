import { embed, query } from '../../../platform/database.ts';
import { eventRows, storeBatch } from '../command.ts';
import type { Ctx, Work } from '../context.ts';
import type { EventDraft } from './row-changes.ts';

const columns = `event_type text, scope text, user_id uuid, card_id uuid, card_type text, peer_card_id uuid,
  peer_card_type text, relation_id uuid, relation_type text, recipient_id uuid, batch_id uuid, job_id uuid,
  request_id text, origin text, cost_keys text[], data jsonb`;
const names = columns
  .split(',')
  .map((column) => column.trim().split(' ')[0])
  .join(', ');

/** The events of a transaction that writes too much to buffer them in memory. */
export interface BufferedEvents {
  /** The command's work, whose events are buffered here. */
  work: Work;
  /** Moves the buffered events from memory to the temporary table; called between batches. */
  flush(): Promise<void>;
  /** Writes all events to the feed: as late in the transaction as possible. */
  record(): Promise<void>;
}

/**
 * Buffers the events of a long transaction in a temporary table, so that the feed's lock is only held during their
 * insert.
 */
export async function bufferEvents(work: Work, ctx: Ctx): Promise<BufferedEvents> {
  let held: EventDraft[] = [];
  let written = 0;
  const { sql } = work;
  await query(sql)
    .run`create temp table if not exists buffered_events (n integer generated always as identity, ${embed(columns)}) on commit drop`;
  const flush = async () => {
    if (held.length === 0) return;
    await query(sql).run`insert into buffered_events (${embed(names)}) select ${embed(names)}
      from jsonb_to_recordset(${JSON.stringify(eventRows(ctx, held))}::jsonb) as v(${embed(columns)})`;
    written += held.length;
    held = [];
  };
  return {
    work: { ...work, emit: (event) => void held.push(event) },
    flush,
    async record() {
      await flush();
      await storeBatch(sql, ctx, written);
      await query(sql).run`select pg_advisory_xact_lock(7203001)`;
      await query(sql).run`insert into events (position, ${embed(names)})
        select nextval('events_position_seq'), ${embed(names)}
         from (select * from buffered_events order by n) e`;
      await query(sql).run`delete from buffered_events`;
    },
  };
}
