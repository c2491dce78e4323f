import { VIEW_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import { type LoadedConnection, loadConnection } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import type { Db } from '../../../../platform/database.ts';
import { type Budget, budgetAt, type LimiterState } from '../limiter/limiter.state.ts';
import { openConnection, type RemoteTools } from './connections.open.ts';

/** The recent state of a connection. */
export interface ConnectionHealth {
  /** `failing`: the last run failed or the circuit is open; `waiting`: a plan, a review item or drift needs a user. */
  status: 'ok' | 'waiting' | 'failing' | 'paused';
  /** RFC 3339. */
  last_success_at: string | null;
  last_failure_at: string | null;
  last_failure: string | null;
  /** Failed runs since the last successful one. */
  failures_in_row: number;
  runs_open: number;
  plans_waiting: number;
  questions_open: number;
  mappings: { total: number; active: number; drifted: number };
  /** Requests that were sent by runs of the last 24 hours. */
  calls_last_day: number;
  limiter: {
    /** Maximum requests per second. */
    rate: number;
    /** RFC 3339; null if the remote has not requested a pause. */
    paused_until: string | null;
    circuit: 'closed' | 'open';
    open_until: string | null;
    /** Null if the remote does not report its rate limit. */
    budget: Budget | null;
    /** The requested part of the usual page size. */
    page_scale: number;
  } | null;
}

/**
 * Reads the recent state of a connection, without calling the remote.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function readHealth(ctx: Ctx, tools: RemoteTools, id: string): Promise<ConnectionHealth> {
  requirePermission(ctx.caller, VIEW_SYNC);
  const connection = await loadConnection(ctx.db, tools.secrets, id);
  const counts = await countRuns(ctx.db, id);
  const limiter = limiterHealth(await limiterState(tools, connection));
  const failing = counts.failures_in_row > 0 || limiter?.circuit === 'open';
  const needsUser = counts.plans_waiting + counts.questions_open + counts.mappings.drifted > 0;
  return {
    status: !connection.settings.is_active ? 'paused' : failing ? 'failing' : needsUser ? 'waiting' : 'ok',
    ...counts,
    limiter,
  };
}

async function countRuns(db: Db, id: string): Promise<Omit<ConnectionHealth, 'status' | 'limiter'>> {
  const { rows } = await db.raw(
    `with own as (select * from itsm_runs where connection_id = ?),
       good as (select max(completed_at) as at from own where status = 'completed'),
       bad as (select * from own where status = 'failed' order by completed_at desc limit 1)
     select utc((select at from good)) as last_success_at, utc((select completed_at from bad)) as last_failure_at,
       (select error_message from bad) as last_failure,
       (select count(*) from own, good where own.status = 'failed'
         and own.completed_at > coalesce(good.at, '-infinity')) as failures_in_row,
       (select count(*) from own where status in ('queued', 'running')) as runs_open,
       (select count(*) from own where status = 'review') as plans_waiting,
       (select count(*) from itsm_review_items q join itsm_mappings m on m.id = q.mapping_id
         where m.connection_id = ?) as questions_open,
       (select json_build_object('total', count(*), 'active', count(*) filter (where is_active),
         'drifted', count(*) filter (where drift is not null)) from itsm_mappings where connection_id = ?) as mappings,
       (select coalesce(sum(remote_calls), 0) from own where created_at > now() - interval '1 day') as calls_last_day`,
    [id, id, id],
  );
  return rows[0];
}

/** The state of the account's rate limiter. */
async function limiterState(tools: RemoteTools, connection: LoadedConnection): Promise<LimiterState | null> {
  const remote = openConnection(tools, connection);
  try {
    return (await remote.limiter?.state()) ?? null;
  } finally {
    await remote.close();
  }
}

function limiterHealth(state: LimiterState | null): ConnectionHealth['limiter'] {
  if (!state) return null;
  const now = Date.now();
  const ifFuture = (ms: number) => (ms > now ? new Date(ms).toISOString() : null);
  return {
    rate: Math.round(state.rate * 100) / 100,
    paused_until: ifFuture(state.pausedUntil),
    circuit: state.openUntil > now ? 'open' : 'closed',
    open_until: ifFuture(state.openUntil),
    budget: budgetAt(state, now),
    page_scale: state.pageScale,
  };
}
