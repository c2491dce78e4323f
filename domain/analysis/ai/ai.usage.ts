import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';

const usageList: ListSpec = {
  name: 'ai-usage',
  from: 'ai_usage u',
  id: 'u.id',
  idType: 'uuid',
  sorts: {
    day: { sql: 'u.day::text', type: 'text', immutable: true },
    purpose: { sql: 'u.purpose', type: 'text', immutable: true },
  },
  defaultSort: 'day',
  defaultDir: 'desc',
  members: {
    id: 'u.id',
    day: 'u.day::text',
    run_id: 'u.run_id',
    purpose: 'u.purpose',
    provider_type: 'u.provider',
    model: 'u.model',
    calls: 'u.calls',
    tokens_in: 'u.tokens_in',
    tokens_out: 'u.tokens_out',
    tokens_reserved: 'u.tokens_reserved',
  },
};

/** The usage of models, by day, run, purpose and model. @throws EstateError `forbidden`. */
export async function listAiUsage(
  ctx: Ctx,
  { day, run_id, ...params }: ListParams & { day?: string; run_id?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.settings');
  const conditions: Condition[] = [
    ...(day === undefined ? [] : [{ sql: 'u.day = ?::date', bindings: [day] }]),
    ...(run_id === undefined ? [] : [{ sql: 'u.run_id = ?::uuid', bindings: [run_id] }]),
  ];
  return await runList(ctx.db, usageList, conditions, params, { owner: ctx.caller.userId });
}
