import type { Ctx } from '../context.ts';
import { runList } from '../lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';
import { may } from '../permissions/policy.ts';

const eventMembers = {
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
  batch_id: 'e.batch_id',
  job_id: 'e.job_id',
  origin: 'e.origin',
  created_at: 'utc(e.at)',
};

/** A list of events, newest first, with these members. */
export function eventListOf(name: string, ...members: (keyof typeof eventMembers)[]): ListSpec {
  return {
    name,
    from: 'events e left join users u on u.id = e.user_id left join cards c on c.id = e.card_id',
    id: 'e.position',
    idType: 'bigint',
    sorts: { position: { sql: 'e.position', type: 'bigint', immutable: true } },
    defaultSort: 'position',
    defaultDir: 'desc',
    members: Object.fromEntries(members.map((member) => [member, eventMembers[member]])),
  };
}

/** The list without cost values, for callers who may not see costs. */
export function withVisibleCosts(spec: ListSpec, { caller }: Ctx): ListSpec {
  if (may(caller, 'costs.view')) return spec;
  const data = 'cut_costs(e.data, coalesce(e.cost_keys, array[]::text[]))';
  return { ...spec, members: { ...spec.members, data } };
}

const { batch_id: _inOtherLists, ...auditMembers } = eventMembers;
const auditList: ListSpec = {
  ...eventListOf('events', ...(Object.keys(auditMembers) as (keyof typeof auditMembers)[])),
  filters: {
    card_id: 'e.card_id = ?::uuid or e.peer_card_id = ?::uuid',
    event_type: `e.event_type = any(string_to_array(?::text, ','))`,
    user_id: 'e.user_id = ?::uuid',
    since: 'e.at >= ?::timestamptz',
    until: 'e.at < ?::timestamptz',
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
  return await runList(ctx, withVisibleCosts(auditList, ctx), [], params);
}
