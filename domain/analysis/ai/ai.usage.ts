import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { AiUsage } from '../runs/runs.ts';

const { provider: provider_type, ...columns } = columnMembers('u', AiUsage);

const usageList: ListSpec = {
  name: 'ai-usage',
  from: 'ai_usage u',
  id: 'u.id',
  sorts: {
    day: { sql: 'u.day::text', type: 'text', immutable: true },
    purpose: { sql: 'u.purpose', type: 'text', immutable: true },
  },
  defaultSort: 'day',
  defaultDir: 'desc',
  filters: { day: 'u.day = ?', run_id: 'u.run_id = ?' },
  members: { ...columns, provider_type },
};

/** The usage of models, by day, run, purpose and model. @throws EstateError `forbidden`. */
export async function listAiUsage(
  ctx: Ctx,
  params: ListParams & { day?: string; run_id?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.settings');
  return await runList(ctx, usageList, [], params);
}
