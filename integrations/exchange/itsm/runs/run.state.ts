import { boundedBy } from '../../../../domain/access/jobs.owner.ts';
import {
  callerOfConnection,
  loadConnection,
  loadMapping,
  loadStoredMapping,
  readSyncState,
  requireActive,
  requireMappingPermissions,
  type SyncStateRow,
  type UsableMapping,
} from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { RunRow, RunStage } from '../../../../domain/exchange/itsm/itsm.model.ts';
import type { SyncDirection } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { loadRun, logRun, requireStatus } from '../../../../domain/exchange/itsm/runs.commands.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { JobCounts, RunningJob } from '../../../../domain/kernel/jobs/jobs.running.ts';
import type { Metamodel } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Services } from '../../../../domain/kernel/services.ts';
import { type Db, inTransaction, query, type Sql } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { openConnection } from '../connections/connections.open.ts';
import type { Connector } from '../connectors/connector.ts';
import { checkDrift } from '../mappings/mapping.drift.ts';
import { type CardReader, openCards } from '../port/local.cards.ts';
import { type Clock, isRemoteError, systemClock } from '../remote.ts';

/** The phases of reading and planning in their order. An interrupted run resumes with its current phase. */
export const phases = [
  'records',
  'again',
  'deletions',
  'looks',
  'local',
  'relations',
  'relation_deletions',
  'ends',
  'plan',
] as const;

export type Phase = (typeof phases)[number];

/** The checkpoint of reading and planning, stored with each page as JSON. */
export interface RunState {
  phase: Phase;
  /** Where the phase resumes; null: at its beginning. */
  cursor: string | null;
  /** When reading began, milliseconds by our clock. */
  startedAt: number;
  /** The time of the plan; RFC 3339. */
  now: string;
  /** How far the remote's clock is ahead, in milliseconds; null if unknown. */
  aheadMs: number | null;
  /** The time of the newest change that was read; RFC 3339. */
  newest: string | null;
  newestLink: string | null;
  /** Where the next delta starts, if the remote has named it. */
  delta?: string | null;
  /** Rows are hidden from the account, so that missing records do not count as gone. */
  withheld: boolean;
  linksWithheld: boolean;
  /** Mapped columns that are hidden from the account; the next run then reads from the same point as this one. */
  hidden: string[];
  fetched: number;
  /** The number of changes older than the last run that were not in it; missing in runs of an older release. */
  late?: number;
  relations: number;
  /** The position of the change feed when reading began. */
  localPosition: string;
}

/** The clock and page size, which tests replace. */
export interface RunConditions {
  clock: Clock;
  /** Records of a page. */
  page: number;
}

export const defaultConditions: RunConditions = { clock: systemClock, page: 1_000 };

/** The mapping as a run stores it; `sync_direction` is the direction of the run. */
export interface RunMapping extends UsableMapping {
  /** The direction of the stored mapping. */
  mapping_direction: SyncDirection;
  /** Records that this run reads even if unchanged. Later additions are for the next run. */
  again: string[];
}

/** The input of a run. */
export interface RunInput {
  runId: string;
  mappingId: string;
  /** A full read, or a delta. */
  complete: boolean;
  mapping: RunMapping;
  syncState: SyncStateRow;
}

/** The context of reading and planning. */
export interface RunWork extends RunInput {
  ctx: Ctx;
  db: Db;
  connector: Connector;
  cards: CardReader;
  /** Records of a page. */
  page: number;
  signal: AbortSignal;
  state: RunState;
  /**
   * Stores the checkpoint in one transaction with the writes of `write`.
   * @throws JobStopped when the job has lost its lease.
   */
  checkpoint(
    change: Partial<RunState>,
    write?: (sql: import('knex').Knex.Transaction) => Promise<void>,
  ): Promise<void>;
}

export type Stopwatch = ReturnType<typeof stopwatch>;

/** Sums the seconds of each stage over all attempts of a run. */
export function stopwatch({ stats }: Pick<RunRow, 'stats'>) {
  const seconds: Record<string, number> = { ...stats.seconds };
  const add = (stage: RunStage, since: number) => {
    seconds[stage] = round((seconds[stage] ?? 0) + (performance.now() - since) / 1000);
  };
  return {
    seconds,
    add,
    async timed<T>(stage: RunStage, work: () => Promise<T>): Promise<T> {
      const from = performance.now();
      try {
        return await work();
      } finally {
        add(stage, from);
      }
    },
  };
}

const round = (seconds: number): number => Math.round(seconds * 100) / 100;

/** Reads pages from the checkpoint's cursor on, and requests the next page while one is processed. */
export async function* readAhead<P extends { next: string | null }>(
  { signal, state }: Pick<RunWork, 'signal' | 'state'>,
  readPage: (cursor: string | null) => Promise<P>,
): AsyncGenerator<P> {
  signal.throwIfAborted();
  for (let pending = readPage(state.cursor); ; ) {
    const page = await pending;
    signal.throwIfAborted();
    if (page.next !== null) {
      pending = readPage(page.next);
      // avoids an unhandled rejection if the caller stops before the next page
      pending.catch(() => {});
    }
    yield page;
    if (page.next === null) return;
  }
}

export type RunJob = RunningJob<{ run_id: string }>;

/**
 * Begins or resumes a run. A new run stores the present mapping and uses it until it ends.
 * @returns null when the run has ended or is in review.
 */
export async function beginRun(job: RunJob): Promise<RunRow | null> {
  return await command(job.ctx, async ({ sql, metamodel }) => {
    const run = await loadRun(sql, job.payload.run_id, 'for update');
    if (run.job_id !== job.id || !['queued', 'running'].includes(run.status) || run.mapping_id === null) {
      return null;
    }
    await job.lock({ sql });
    if (run.status === 'queued') {
      await sql('itsm_runs')
        .where({ id: run.id })
        .update({ status: 'running', started_at: sql.raw('coalesce(started_at, clock_timestamp())') });
    }
    // drift is checked again before anything is read
    if (run.mapping === null)
      run.mapping = await storeMappingOfRun(sql, metamodel, run, run.trigger !== 'undo');
    return { ...run, status: 'running' };
  });
}

/**
 * The job with the rights that the connection's owner and the requesting user have in common.
 * @throws OwnerRefused when the owner is gone or lacks a permission that the run uses; EstateError `forbidden` when the
 *   requesting user lacks one.
 */
export async function withOwnerRights(job: RunJob, run: RunRow): Promise<RunJob> {
  const { ctx } = job;
  const mapping = { ...(await loadStoredMapping(ctx.db, run.mapping_id)), sync_direction: run.direction };
  const owner = await callerOfConnection(ctx.db, ctx.metamodel, run.connection_id, mapping);
  const caller = boundedBy(owner, ctx.caller);
  requireMappingPermissions(caller, ctx.metamodel, mapping);
  return { ...job, ctx: { ...ctx, caller } };
}

/**
 * Stores the current mapping in the run.
 * @param ignoreDrift allow a mapping that was broken by schema drift, because the drift is about to be checked again.
 * @throws EstateError `wrong_state` when the mapping cannot run.
 */
async function storeMappingOfRun(
  sql: Sql,
  metamodel: Metamodel,
  run: RunRow,
  ignoreDrift = false,
): Promise<RunMapping> {
  const current = await loadMapping(sql, metamodel, run.mapping_id);
  if (current.broken !== null && !(ignoreDrift && current.broken_by_drift))
    throw new EstateError('wrong_state', `The mapping cannot run: ${current.broken}`);
  const mapping: RunMapping = {
    ...current,
    sync_direction: run.direction,
    mapping_direction: current.sync_direction,
    again: (await readSyncState(sql, current.id)).again,
  };
  await sql('itsm_runs')
    .where({ id: run.id })
    .update({ mapping: JSON.stringify(mapping) });
  return mapping;
}

/**
 * Checks the schema of the remote before anything is read. The run excludes fields whose column is gone. If the schema cannot be
 * read the run continues, unless the last check has found that the mapping cannot run.
 * @throws EstateError `wrong_state` when the mapping cannot run without the excluded fields. @throws RemoteError
 */
export async function handleSchemaDrift(
  job: RunJob,
  run: RunRow,
  connector: Connector,
  clock: Clock,
): Promise<RunRow> {
  if (run.checkpoint !== null) return run;
  try {
    await checkDrift(job.ctx, run.mapping_id, connector, clock);
  } catch (error) {
    const canRun = connector.calls() === 0 || !(run.mapping as RunMapping).broken_by_drift;
    if (!isRemoteError(error) || !canRun) throw error;
  }
  if (connector.calls() === 0) return run;
  return await command(job.ctx, async ({ sql, metamodel }) => {
    await job.lock({ sql });
    return { ...run, mapping: await storeMappingOfRun(sql, metamodel, run) };
  });
}

/** Makes the run a full read if the account cannot see what has changed. @throws RemoteError */
export async function readAllIfChangesHidden(
  job: RunJob,
  run: RunRow,
  connector: Connector,
): Promise<RunRow> {
  if (run.checkpoint !== null || !connector.explainMissingDelta) return run;
  const why = await connector.explainMissingDelta();
  if (why === null) return run;
  return await command(job.ctx, async ({ sql }) => {
    await job.lock({ sql });
    await sql('itsm_runs').where({ id: run.id }).update({ complete: true });
    await logRun(sql, run.id, 'read', 'warning', why);
    return { ...run, complete: true };
  });
}

/** Opens the connection of a run. @throws EstateError `wrong_state` when it is paused. */
export async function openRemote(
  services: Services,
  run: RunRow,
  signal: AbortSignal,
  clock: Clock,
): Promise<Connector> {
  await requireActive(services.db, run.connection_id);
  const connection = await loadConnection(services.db, services.secrets, run.connection_id);
  return openConnection(services, connection, { signal, clock });
}

/** Creates the context of reading and planning, from the run's checkpoint if there is one. */
export async function createRunWork(
  job: RunJob,
  run: RunRow,
  connector: Connector,
  { clock, page }: RunConditions = defaultConditions,
): Promise<RunWork> {
  requireStatus(run, 'running');
  const { ctx } = job;
  const mapping = run.mapping as RunMapping;
  const cards = await openCards(ctx, mapping, mapping.card_filter);
  const calls = run.remote_calls;
  const work: RunWork = {
    ctx,
    db: ctx.db,
    connector,
    cards,
    page,
    signal: job.signal,
    runId: run.id,
    mappingId: mapping.id,
    complete: run.complete,
    mapping,
    syncState: await readSyncState(ctx.db, mapping.id),
    state: (run.checkpoint as RunState | null) ?? (await initialState(ctx, clock)),
    async checkpoint(change, write) {
      const state = { ...work.state, ...change };
      await inTransaction(ctx.db, async (sql) => {
        await requireActive(sql, run.connection_id);
        await write?.(sql);
        // asynchronous: what a crash of the database loses is read or planned again, and storePlan commits synchronously
        await query(sql)
          .run`update itsm_runs set checkpoint = ${JSON.stringify(state)}, remote_calls = ${calls + connector.calls()} where id = ${run.id}
           returning set_config('synchronous_commit', 'off', true)`;
        await job.checkpoint({ sql }, { counts: countsOf(state), ...jobProgress(state) });
      });
      work.state = state;
    },
  };
  return work;
}

const countsOf = ({ fetched, relations }: RunState): JobCounts => ({
  fetched,
  relations_fetched: relations,
});

/** After this number of records the job shows half of the progress of reading; the total is unknown. */
const HALF_PROGRESS = 10_000;

function jobProgress({ phase, fetched, relations }: RunState): { progress: number; message: string } {
  const read = fetched + relations;
  if (phase === 'plan') return { progress: 0.4, message: 'planning' };
  return { progress: (0.4 * read) / (read + HALF_PROGRESS), message: `${read} records and relations read` };
}

async function initialState({ db }: Ctx, clock: Clock): Promise<RunState> {
  const rows = await query(db).rows`select coalesce(max(position), 0)::text as position from events`;
  const startedAt = clock.now();
  return {
    phase: 'records',
    cursor: null,
    startedAt,
    now: new Date(startedAt).toISOString(),
    aheadMs: null,
    newest: null,
    newestLink: null,
    withheld: false,
    linksWithheld: false,
    hidden: [],
    fetched: 0,
    late: 0,
    relations: 0,
    localPosition: rows[0].position,
  };
}

/** The time of the newest change. */
export const newestOf = (changes: readonly { updatedAt: string }[], before: string | null): string | null =>
  changes.reduce<string | null>(
    (newest, { updatedAt }) => (newest === null || updatedAt > newest ? updatedAt : newest),
    before,
  );
