import type { Ctx } from '../context.ts';
import { runList } from '../lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';
import { may } from '../permissions/policy.ts';

/** The members of an event in the audit log. */
const auditList: ListSpec = {
  name: 'events',
  from: 'events e left join users u on u.id = e.user_id left join cards c on c.id = e.card_id',
  id: 'e.position',
  idType: 'bigint',
  sorts: { position: { sql: 'e.position', type: 'bigint', immutable: true } },
  defaultSort: 'position',
  defaultDir: 'desc',
  filters: {
    card_id: 'e.card_id = ?::uuid or e.peer_card_id = ?::uuid',
    event_type: `e.event_type = any(string_to_array(?::text, ','))`,
    user_id: 'e.user_id = ?::uuid',
    since: 'e.at >= ?::timestamptz',
    until: 'e.at < ?::timestamptz',
  },
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

/** The filters of the audit log. */
interface AuditFilter {
  card_id?: string;
  /** Comma-separated. */
  event_type?: string;
  user_id?: string;
  since?: string;
  until?: string;
}

/** The audit log: all events of all scopes, newest first. Cost values are shown according to the caller's rights. */
export async function listAuditEvents(ctx: Ctx, params: ListParams & AuditFilter): Promise<JsonText> {
  const spec = may(ctx.caller, 'costs.view')
    ? auditList
    : {
        ...auditList,
        members: { ...auditList.members, data: 'cut_costs(e.data, coalesce(e.cost_keys, array[]::text[]))' },
      };
  return await runList(ctx, spec, [], params);
}
