import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { SEE_SYNC } from './connections.queries.ts';
import { equal } from './runs.conditions.ts';

const runListSpec: ListSpec = {
  name: 'itsm-runs',
  from: 'itsm_runs r',
  id: 'r.id',
  idType: 'uuid',
  sorts: { created_at: { sql: 'r.created_at', type: 'timestamptz', filled: true, immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  members: {
    id: 'r.id',
    connection_id: 'r.connection_id',
    mapping_id: 'r.mapping_id',
    job_id: 'r.job_id',
    direction: 'r.direction',
    trigger: 'r.trigger',
    status: 'r.status',
    stage: 'r.stage',
    progress: `case when r.status = 'completed' then 1
      else (select j.progress from jobs j where j.id = r.job_id) end`,
    complete: 'r.complete',
    auto_apply: 'r.auto_apply',
    stopped: 'r.stopped',
    stopped_overruled_by: 'r.stopped_overruled_by',
    stats: `jsonb_build_object('fetched', 0, 'relations_fetched', 0, 'processed', 0, 'created', 0, 'updated', 0, 'deleted', 0,
      'relations_created', 0, 'relations_deleted', 0, 'skipped', 0, 'errors', 0) || r.stats`,
    remote_calls: 'r.remote_calls',
    error_code: 'r.error_code',
    error_message: 'r.error_message',
    undo_of: 'r.undo_of',
    created_by: 'r.created_by',
    created_at: 'utc(r.created_at)',
    started_at: 'utc(r.started_at)',
    planned_at: 'utc(r.plan_made_at)',
    completed_at: 'utc(r.completed_at)',
  },
};

export interface RunFilters {
  connection_id?: string;
  mapping_id?: string;
  status?: string;
  direction?: string;
}

/** Runs, the newest first. @throws EstateError `forbidden`. */
export async function listRuns(ctx: Ctx, params: ListParams & RunFilters): Promise<JsonText> {
  requirePermission(ctx.caller, SEE_SYNC);
  const { connection_id, mapping_id, status, direction, ...rest } = params;
  const where = equal({
    'r.connection_id': connection_id,
    'r.mapping_id': mapping_id,
    'r.status': status,
    'r.direction': direction,
  });
  return await runList(ctx.db, runListSpec, where, rest, { owner: ctx.caller.userId });
}

/** One run. @throws EstateError `forbidden`, `not_found`. */
export async function readRun(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, SEE_SYNC);
  return await runText(ctx.db, id);
}

/** The same for whoever has been found to be allowed to start or steer it. @throws EstateError `not_found`. */
export async function runText(sql: Sql, id: string): Promise<JsonText> {
  const item = projection(runListSpec.members, undefined);
  const { rows } = await sql.raw(`select ${item.sql}::text as item from ${runListSpec.from} where r.id = ?`, [
    ...item.bindings,
    id,
  ] as never);
  if (!rows[0]) throw notFound('run', id);
  return rows[0].item;
}
