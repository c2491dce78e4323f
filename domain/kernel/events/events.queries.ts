import type { Ctx } from '../context.ts';
import { runList } from '../lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';

/** The members of an event as the audit list shows them. */
const auditList: ListSpec = {
  name: 'events',
  from: 'events e left join users u on u.id = e.user_id left join cards c on c.id = e.card_id',
  id: 'e.position',
  idType: 'bigint',
  sorts: { position: { sql: 'e.position', type: 'bigint', immutable: true } },
  defaultSort: 'position',
  defaultDir: 'desc',
  members: {
    id: 'e.id',
    position: 'e.position::text',
    event_type: 'e.event_type',
    scope: 'e.scope',
    card_id: 'e.card_id',
    card_name: 'c.name',
    peer_card_id: 'e.peer_card_id',
    relation_id: 'e.relation_id',
    data: 'e.data',
    user_id: 'e.user_id',
    user_display_name: 'u.display_name',
    request_id: 'e.request_id',
    job_id: 'e.job_id',
    origin: 'e.origin',
    created_at: 'utc(e.at)',
  },
};

export interface AuditFilter {
  card_id?: string;
  event_type?: string;
  user_id?: string;
  since?: string;
  until?: string;
}

/** The audit log: every event of every scope, newest first. Cost values follow the caller's rights. */
export async function listAuditEvents(ctx: Ctx, params: ListParams & AuditFilter): Promise<JsonText> {
  const conditions: Condition[] = [];
  const add = (sql: string, ...bindings: unknown[]) => conditions.push({ sql, bindings });
  if (params.card_id)
    add('(e.card_id = ?::uuid or e.peer_card_id = ?::uuid)', params.card_id, params.card_id);
  if (params.event_type) add('e.event_type = any(?::text[])', params.event_type.split(','));
  if (params.user_id) add('e.user_id = ?::uuid', params.user_id);
  if (params.since) add('e.at >= ?::timestamptz', params.since);
  if (params.until) add('e.at < ?::timestamptz', params.until);
  const costs = ctx.caller.permissions === '*' || ctx.caller.permissions.has('costs.view');
  const spec = costs
    ? auditList
    : {
        ...auditList,
        members: { ...auditList.members, data: 'cut_costs(e.data, coalesce(e.cost_keys, array[]::text[]))' },
      };
  return await runList(ctx.db, spec, conditions, params);
}
