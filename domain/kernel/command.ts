import { setTimeout as delay } from 'node:timers/promises';
import {
  embed,
  inTransaction,
  LOCK_NOT_AVAILABLE,
  query,
  type Sql,
  sqlState,
  type Transaction,
} from '../../platform/database.ts';
import { EstateError, notFound } from '../../platform/errors.ts';
import type { BatchRef, Ctx, Work } from './context.ts';
import { eventTypes } from './events/events.catalogue.ts';
import type { EventDraft } from './events/row-changes.ts';
import { earlierResult, storeResult } from './idempotency.ts';

interface CommandOptions {
  /** Roll back at the end: the result is the same, but nothing is written. */
  dryRun?: boolean;
  /** The command changes the metamodel or data that it is compiled from: no other command runs concurrently. */
  changesMetamodel?: boolean;
}

/** The metamodel is being changed or, if `cause` says so, is in use by other commands: the command has not started. */
class MetamodelLocked extends Error {}

/** Delays between attempts in milliseconds, with a jitter of half to one and a half. */
const PAUSE_MS = 100;
const PATIENCE_MS = 120_000;
/** How long a change of the metamodel waits for running writes; while it waits, all other writes wait too. */
const CHANGE_PATIENCE_MS = 4_000;

class RolledBack<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super('rolled back as asked');
    this.result = result;
  }
}

/**
 * Runs one command: a transaction in which `work` reads with locks, decides and writes, and which at its end records
 * the events and raises the topics under the feed's lock. Sets `ctx.position`.
 */
export async function command<T>(ctx: Ctx, work: (work: Work) => Promise<T>): Promise<T> {
  return await commandWith(ctx, {}, work);
}

/** {@link command} with options. */
export async function commandWith<T>(
  ctx: Ctx,
  options: CommandOptions,
  work: (work: Work) => Promise<T>,
): Promise<T> {
  const isDryRun = options.dryRun || ctx.batch.joined?.dryRun;
  if (ctx.claim && !isDryRun) {
    const earlier = await earlierResult(ctx, ctx.claim);
    if (earlier) return earlier.result as T;
  }
  let position: number | undefined;
  const attempt = () =>
    inTransaction(ctx.db, async (sql) => {
      // Advisory lock 7203003: commands acquire it shared, changes of the metamodel exclusively.
      const version = await lockMetamodel(sql, options.changesMetamodel ?? false);
      // Cards of a dry run get no numbers of their types.
      if (isDryRun) await sql.raw(`select set_config('estate.dry_run', 'on', true)`);
      if (ctx.batch.joined) await lockBatch(sql, ctx.batch);
      if (ctx.batch.byClient) await lockClientBatch(sql, ctx);
      const metamodel =
        ctx.metamodel.version === version ? ctx.metamodel : await ctx.metamodels.at(version, sql);
      const events: EventDraft[] = [];
      const topics = new Set<string>();
      const answer = await work({
        sql,
        metamodel,
        extensions: ctx.extensions,
        emit: (event) => void events.push(event),
        raise: (topic) => void topics.add(topic),
      });
      if (isDryRun) throw new RolledBack(answer);
      if (ctx.claim) await storeResult(sql, ctx, ctx.claim, answer);
      position = await recordEvents(sql, ctx, events, topics);
      return answer;
    });
  try {
    const result = await retryWhileLocked(
      attempt,
      options.changesMetamodel ? CHANGE_PATIENCE_MS : PATIENCE_MS,
    );
    if (position !== undefined) ctx.position = position;
    return result;
  } catch (error) {
    if (error instanceof RolledBack) return error.result as T;
    throw error;
  }
}

/** The metamodel's version, which does not change until the transaction ends. @throws MetamodelLocked */
async function lockMetamodel(sql: Transaction, changing: boolean): Promise<number> {
  const held = sql.raw('select lock_metamodel(?) as version', [changing]);
  const { rows } = await held.catch((error: unknown) => {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new MetamodelLocked('in use', { cause: error }) : error;
  });
  const version: number | null = rows[0].version;
  if (version === null) throw new MetamodelLocked();
  return version;
}

/**
 * Waits, without a connection, until the metamodel can be read or changed.
 * @throws the lock timeout of PostgreSQL if other commands use the metamodel for too long.
 */
async function retryWhileLocked<T>(attempt: () => Promise<T>, patienceMs: number): Promise<T> {
  const end = Date.now() + patienceMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof MetamodelLocked)) throw error;
      if (Date.now() > end) {
        if (error.cause) throw error.cause;
        throw new EstateError('unavailable', 'The metamodel is being changed; try again shortly.', {
          headers: { 'retry-after': '10' },
        });
      }
      await delay(PAUSE_MS * (0.5 + Math.random()));
    }
  }
}

/**
 * Writes events and raises topics; must be the last statement of the transaction, since it acquires the feed's lock.
 * @returns the feed position of the last event, or undefined if there was nothing to record.
 */
export async function recordEvents(
  sql: Transaction,
  ctx: Ctx,
  events: EventDraft[],
  topics: Iterable<string>,
): Promise<number | undefined> {
  const raised = [...topics];
  if (events.length === 0 && raised.length === 0) return undefined;
  const written = events.filter(inBatch).length;
  const isNew = written > 0 && !ctx.batch.byClient;
  if (written > 0 && ctx.batch.byClient) await storeBatch(sql, ctx, written);
  const answer = await query(sql).rows`select record_events(${JSON.stringify(eventRows(ctx, events))}::jsonb,
    ${raised}::text[], ${isNew ? batchRow(ctx, written) : null}::jsonb) as position`;
  if (written > 0) ctx.batch.isStored = true;
  return Number(answer[0].position);
}

/**
 * Stores the context's batch, unless an earlier transaction has. @param written the number of rows that the transaction
 * writes.
 * @throws EstateError `wrong_state` if the client has chosen an id that cannot be used.
 */
export async function storeBatch(sql: Transaction, ctx: Ctx, written: number): Promise<void> {
  const batch = batchRow(ctx, written);
  if (ctx.batch.byClient) {
    const rows = await query(sql)
      .rows`insert into mutation_batches as b (id, tool_name, actor_user_id, origin, row_count, committed_at, by_client)
        select id, tool_name, actor_user_id, origin, row_count, now(), true
        from jsonb_populate_record(null::mutation_batches, ${batch}::jsonb)
        on conflict (id) do update set row_count = b.row_count + excluded.row_count
          where b.by_client and b.actor_user_id = excluded.actor_user_id and b.rolled_back_by is null
        returning id`;
    if (rows.length === 0) throw cannotBeExtended();
  } else {
    await query(sql).run`select record_batch(${batch}::jsonb)`;
  }
  ctx.batch.isStored = true;
}

const cannotBeExtended = () =>
  new EstateError('wrong_state', 'No more writes can be added to the batch of this id.');

/**
 * Events that are in no batch: those of logins, which cannot be undone; of reads, which change nothing; of
 * notifications, which follow from other writes; and of batches themselves.
 */
const outsideBatches =
  /^auth\.|^mutation_batch\.|^notification\.(created|updated)$|^export\.|^file\.downloaded$|^report(_query)?\.started$/;
const inBatch = (event: EventDraft): boolean => !outsideBatches.test(event.event_type);

/**
 * The context's batch in the form of the parameters of `record_events` and `record_batch`.
 * @param written the number of rows that its first transaction writes, used if the writer has announced no number.
 */
function batchRow(ctx: Ctx, written = 0): string {
  const { id, toolName, rowCount } = ctx.batch;
  return JSON.stringify({
    id,
    tool_name: toolName,
    actor_user_id: ctx.caller.userId,
    origin: ctx.origin,
    row_count: rowCount ?? written,
  });
}

/** Events as rows of their table, without position, id and time. */
export function eventRows(ctx: Ctx, events: EventDraft[]) {
  const { impersonatedRole } = ctx.caller;
  return events.map((event) => ({
    user_id: ctx.caller.userId,
    request_id: ctx.requestId,
    batch_id: inBatch(event) ? ctx.batch.id : null,
    job_id: ctx.jobId,
    origin: ctx.origin,
    scope: eventTypes[event.event_type],
    ...event,
    data: impersonatedRole ? { ...event.data, impersonated_role: impersonatedRole } : event.data,
  }));
}

/** The result of a part of a command: its value, or why it was refused. */
export type Attempt<T> = { ok: true; value: T } | { ok: false; error: EstateError };

/**
 * Executes a part of a command after a savepoint: if it is refused, its writes, events and topics are discarded, and
 * the command continues.
 */
export async function attempt<T>(work: Work, part: (work: Work) => Promise<T>): Promise<Attempt<T>> {
  const events: EventDraft[] = [];
  const topics: string[] = [];
  let value: T;
  try {
    value = await work.sql.transaction((sql) =>
      part({
        ...work,
        sql,
        emit: (event) => void events.push(event),
        raise: (topic) => void topics.push(topic),
      }),
    );
  } catch (error) {
    if (error instanceof EstateError) return { ok: false, error };
    throw error;
  }
  for (const event of events) work.emit(event);
  for (const topic of topics) work.raise(topic);
  return { ok: true, value };
}

/**
 * The caller's open batch of this id, for a request that joins it.
 * @throws EstateError `not_found` for unknown batches and batches of others, `wrong_state` for a closed one.
 */
export async function joinBatch(ctx: Ctx, id: string): Promise<BatchRef> {
  const row = ctx.caller.userId && (await find(ctx.db, id, ''));
  if (!row || row.actor_user_id !== ctx.caller.userId) throw notFound('batch', id);
  requireOpen(row);
  return { id: row.id, toolName: row.tool_name, joined: { dryRun: row.dry_run } };
}

/**
 * Prevents a joined batch from being closed before the transaction ends.
 * @throws EstateError `not_found`, `wrong_state`.
 */
async function lockBatch(sql: Sql, { id }: BatchRef): Promise<void> {
  const row = await find(sql, id, 'for share');
  if (!row) throw notFound('batch', id);
  requireOpen(row);
}

interface FoundBatch {
  id: string;
  tool_name: string;
  actor_user_id: string | null;
  dry_run: boolean;
  committed_at: Date | null;
}

async function find(sql: Sql, id: string, lock: '' | 'for share'): Promise<FoundBatch | undefined> {
  return await query(sql).row`select id, tool_name, actor_user_id, dry_run, committed_at
    from mutation_batches where id = ${id}::uuid ${embed(lock)}`;
}

function requireOpen(row: FoundBatch): void {
  if (row.committed_at !== null) throw new EstateError('wrong_state', 'The batch is closed.');
}

/** The minutes after its first write during which a batch of the client takes further writes. */
const CLIENT_BATCH_MINUTES = 15;

/**
 * Prevents a batch of the client from being rolled back before the transaction ends, if it exists already. Writes of
 * concurrent requests do not wait for each other.
 * @throws EstateError `wrong_state` if it is another's, too old, rolled back, or not one of a client.
 */
async function lockClientBatch(sql: Sql, { batch, caller }: Ctx): Promise<void> {
  const rows = await query(sql).rows<{
    open: boolean;
  }>`select by_client and actor_user_id = ${caller.userId}::uuid
      and rolled_back_by is null
      and created_at > now() - interval '${embed(CLIENT_BATCH_MINUTES)} minutes' as open
    from mutation_batches where id = ${batch.id}::uuid for key share`;
  if (rows[0] && !rows[0].open) throw cannotBeExtended();
}
