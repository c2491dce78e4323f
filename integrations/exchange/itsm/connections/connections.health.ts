import Type, { type Static } from 'typebox';
import { VIEW_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import { type LoadedConnection, loadConnection } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import { Choice, component, Nullable, object, Timestamp } from '../../../../domain/kernel/shapes.ts';
import { type Db, query } from '../../../../platform/database.ts';
import { budgetAt, type LimiterState } from '../limiter/limiter.ts';
import { openConnection, type RemoteTools } from './connections.open.ts';

const count = Type.Integer({ minimum: 0 });

/** The recent state of a connection. */
export const ConnectionHealth = component('ItsmConnectionHealth', {
  status: Choice(
    ['ok', 'waiting', 'failing', 'paused'],
    '`failing`: the last run failed, or the circuit is open; `waiting`: a plan or a review item needs a decision',
  ),
  last_success_at: Nullable(Timestamp),
  last_failure_at: Nullable(Timestamp),
  last_failure: Nullable(Type.String()),
  consecutive_failures: Type.Integer({
    minimum: 0,
    description: 'Failed runs since the last successful one',
  }),
  runs_open: count,
  plans_in_review: Type.Integer({ minimum: 0, description: 'Plans in review' }),
  open_review_items: Type.Integer({
    minimum: 0,
    description: 'Open review items: conflicts and uncertain matches',
  }),
  mappings: object({ total: count, active: count, drifted: count }),
  calls_last_day: Type.Integer({ minimum: 0, description: 'Requests of the runs of the last 24 hours' }),
  limiter: object({
    rate: Type.Number({ description: 'The most requests that are sent per second' }),
    paused_until: Nullable(Timestamp),
    circuit: Choice(['closed', 'open'], 'Open: no request is sent, because several in a row failed'),
    open_until: Nullable(Timestamp),
    budget: Nullable(object({ limit: Type.Number(), remaining: Type.Number(), resets_at: Timestamp })),
    page_scale: Type.Number({ description: 'The page size as a fraction of the usual one' }),
  }),
});
export type ConnectionHealth = Static<typeof ConnectionHealth>;

/**
 * Reads the recent state of a connection, without calling the remote.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function readHealth(ctx: Ctx, tools: RemoteTools, id: string): Promise<ConnectionHealth> {
  requirePermission(ctx.caller, VIEW_SYNC);
  const connection = await loadConnection(ctx.db, tools.secrets, id);
  const counts = await countRuns(ctx.db, id);
  const limiter = limiterHealth(await readLimiterState(tools, connection));
  const failing = counts.consecutive_failures > 0 || limiter.circuit === 'open';
  const needsUser = counts.plans_in_review + counts.open_review_items + counts.mappings.drifted > 0;
  return {
    status: !connection.settings.is_active ? 'paused' : failing ? 'failing' : needsUser ? 'waiting' : 'ok',
    ...counts,
    limiter,
  };
}

async function countRuns(db: Db, id: string): Promise<Omit<ConnectionHealth, 'status' | 'limiter'>> {
  const rows = await query(db).rows`with own as (select * from itsm_runs where connection_id = ${id}),
       good as (select max(completed_at) as at from own where status = 'completed'),
       bad as (select * from own where status = 'failed' order by completed_at desc limit 1)
     select utc((select at from good)) as last_success_at, utc((select completed_at from bad)) as last_failure_at,
       (select error_message from bad) as last_failure,
       (select count(*) from own, good where own.status = 'failed'
         and own.completed_at > coalesce(good.at, '-infinity')) as consecutive_failures,
       (select count(*) from own where status in ('queued', 'running')) as runs_open,
       (select count(*) from own where status = 'review') as plans_in_review,
       (select count(*) from itsm_review_items q join itsm_mappings m on m.id = q.mapping_id
         where m.connection_id = ${id}) as open_review_items,
       (select json_build_object('total', count(*), 'active', count(*) filter (where is_active),
         'drifted', count(*) filter (where drift is not null)) from itsm_mappings where connection_id = ${id}) as mappings,
       (select coalesce(sum(remote_calls), 0) from own where created_at > now() - interval '1 day') as calls_last_day`;
  return rows[0];
}

/** The state of the account's rate limiter. */
async function readLimiterState(tools: RemoteTools, connection: LoadedConnection): Promise<LimiterState> {
  const remote = openConnection(tools, connection);
  try {
    return await remote.limiter.state();
  } finally {
    await remote.close();
  }
}

function limiterHealth(state: LimiterState): ConnectionHealth['limiter'] {
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
