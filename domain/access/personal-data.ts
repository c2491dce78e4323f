import { notFound } from '../../platform/errors.ts';
import type { Ctx } from '../kernel/context.ts';
import type { JsonText } from '../kernel/lists/lists.types.ts';
import { requireControlOf, requireSession } from '../kernel/permissions/grants.ts';
import { may, requirePermission } from '../kernel/permissions/policy.ts';

/** The maximum number of the latest rows of each kind that are returned. */
const NEWEST = 10_000;

/** The personal data besides the account: queries by the user's id that return one JSON object for each row. */
const queries: Record<string, string> = {
  card_roles: `select json_build_object('card_id', s.card_id, 'card_name', c.name, 'role', s.role,
      'since', utc(s.created_at)) as item
    from stakeholders s join cards c on c.id = s.card_id where s.user_id = ?::uuid order by s.id desc`,
  tokens: `select json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes,
      'created_at', utc(t.created_at), 'last_used_at', utc(t.last_used_at), 'expires_at', utc(t.expires_at)) as item
    from api_tokens t where t.user_id = ?::uuid order by t.id desc`,
  web_sessions: `select json_build_object('id', w.id, 'created_at', utc(w.created_at),
      'last_used_at', utc(w.last_used_at), 'user_agent', w.user_agent, 'address', w.address) as item
    from web_sessions w where w.user_id = ?::uuid order by w.last_used_at desc, w.id`,
  identities: `select json_build_object('issuer', s.issuer, 'subject', s.subject, 'since', utc(s.created_at)) as item
    from sso_identities s where s.user_id = ?::uuid order by s.created_at, s.issuer`,
  provisioning: `select json_build_object('user_name', i.user_name, 'external_id', i.external_id,
      'given_name', i.given_name, 'family_name', i.family_name, 'created_at', utc(i.created_at)) as item
    from scim_identities i where i.user_id = ?::uuid`,
  groups: `select json_build_object('id', g.id, 'name', g.display_name, 'since', utc(m.created_at)) as item
    from scim_group_members m join scim_groups g on g.id = m.group_id where m.user_id = ?::uuid order by m.id desc`,
  comments: `select json_build_object('id', m.id, 'card_id', m.card_id, 'content', m.content,
      'created_at', utc(m.created_at)) as item
    from comments m where m.user_id = ?::uuid order by m.id desc`,
  todos: `select json_build_object('id', d.id, 'card_id', d.card_id, 'description', d.description,
      'status', d.status, 'due_date', d.due_date) as item
    from todos d where d.assigned_to = ?::uuid order by d.id desc`,
  survey_answers: `select json_build_object('id', r.id, 'survey_name', s.name, 'card_id', r.card_id, 'status', r.status,
      'responses', r.responses - r.cost_keys, 'responded_at', utc(r.responded_at)) as item
    from survey_responses r join surveys s on s.id = r.survey_id where r.user_id = ?::uuid order by r.id desc`,
  compliance_reviews: `select json_build_object('id', f.id, 'regulation', f.regulation, 'card_id', f.card_id,
      'decision', f.decision, 'review_note', f.review_note, 'reviewed_at', utc(f.reviewed_at)) as item
    from compliance_findings f where f.reviewed_by = ?::uuid order by f.id desc`,
  migrations: `select json_build_object('id', m.id, 'name', m.name, 'source_type', m.source_type,
      'created_at', utc(m.created_at)) as item
    from migrations m where m.created_by = ?::uuid order by m.id desc`,
  diagrams: `select json_build_object('id', d.id, 'name', d.name, 'created_at', utc(d.created_at)) as item
    from diagrams d where d.created_by = ?::uuid order by d.id desc`,
  web_portals: `select json_build_object('id', p.id, 'name', p.name, 'slug', p.slug, 'created_at', utc(p.created_at)) as item
    from web_portals p where p.created_by = ?::uuid order by p.id desc`,
  status_reports: `select json_build_object('id', r.id, 'card_id', r.card_id, 'report_date', r.report_date) as item
    from ppm_reports r where r.reporter_id = ?::uuid order by r.id desc`,
  project_risks: `select json_build_object('id', r.id, 'card_id', r.card_id, 'title', r.title) as item
    from ppm_risks r where r.owner_id = ?::uuid order by r.id desc`,
  wbs_items: `select json_build_object('id', w.id, 'card_id', w.card_id, 'title', w.title) as item
    from ppm_wbs w where w.assignee_id = ?::uuid order by w.id desc`,
  tasks: `select json_build_object('id', t.id, 'card_id', t.card_id, 'title', t.title, 'status', t.status) as item
    from ppm_tasks t where t.assignee_id = ?::uuid order by t.id desc`,
  task_comments: `select json_build_object('id', m.id, 'task_id', m.task_id, 'content', m.content,
      'created_at', utc(m.created_at)) as item
    from ppm_task_comments m where m.user_id = ?::uuid order by m.id desc`,
  risks: `select json_build_object('id', r.id, 'reference', r.reference, 'title', r.title, 'status', r.status,
      'owned', r.owner_id is not distinct from v.person, 'accepted', r.accepted_by is not distinct from v.person,
      'acceptance_rationale', r.acceptance_rationale) as item
    from (select ?::uuid as person) v join risks r on v.person in (r.owner_id, r.accepted_by) order by r.id desc`,
  risk_mitigations: `select json_build_object('id', o.id, 'task', t.reference, 'title', t.title, 'status', o.status,
      'due_date', o.due_date, 'completed', o.completed_by is not distinct from v.person,
      'completion_notes', o.completion_notes) as item
    from (select ?::uuid as person) v join risk_mitigation_occurrences o on v.person in (o.assigned_owner_id, o.completed_by)
    join risk_mitigation_tasks t on t.id = o.task_id order by o.id desc`,
  process_assessments: `select json_build_object('id', a.id, 'process_id', a.process_id,
      'assessment_date', a.assessment_date, 'overall_score', a.overall_score, 'notes', a.notes) as item
    from process_assessments a where a.assessor_id = ?::uuid order by a.id desc`,
  process_flows: `select json_build_object('id', v.id, 'process_id', v.process_id, 'revision', v.revision,
      'status', v.status, 'created', v.created_by = u.id, 'submitted', v.submitted_by = u.id,
      'approved', v.approved_by = u.id) as item
    from users u join process_flow_versions v on u.id in (v.created_by, v.submitted_by, v.approved_by)
    where u.id = ?::uuid order by v.id desc`,
  decisions: `select json_build_object('id', a.id, 'number', a.number, 'title', a.title, 'status', a.status,
      'written', a.created_by is not distinct from p.id, 'created_at', utc(a.created_at)) as item
    from (select ?::uuid as id) p join adrs a on a.created_by = p.id
      or a.signatories @> jsonb_build_array(jsonb_build_object('user_id', p.id)) order by a.id desc`,
  statements: `select json_build_object('id', w.id, 'name', w.name, 'status', w.status,
      'written', w.created_by is not distinct from p.id, 'created_at', utc(w.created_at)) as item
    from (select ?::uuid as id) p join soaws w on w.created_by = p.id
      or w.signatories @> jsonb_build_array(jsonb_build_object('user_id', p.id)) order by w.id desc`,
  notifications: `select json_build_object('id', n.id, 'type', n.type, 'title', n.title, 'message', n.message,
      'created_at', utc(n.created_at)) as item
    from notifications n where n.user_id = ?::uuid order by n.id desc`,
  channels: `select json_build_object('id', c.id, 'name', c.name, 'kind', c.kind, 'host', c.host,
      'is_shared', c.is_shared, 'notifies', c.notifies, 'status', c.status, 'created_at', utc(c.created_at)) as item
    from channels c where c.owner_id = ?::uuid order by c.id desc`,
  saved_views: `select json_build_object('id', b.id, 'name', b.name, 'card_type', b.card_type, 'filters', b.filters,
      'columns', b.columns, 'sort', b.sort, 'visibility', b.visibility, 'created_at', utc(b.created_at)) as item
    from bookmarks b where b.owner_id = ?::uuid order by b.id desc`,
  saved_reports: `select json_build_object('id', s.id, 'name', s.name, 'description', s.description,
      'report_type', s.report_type, 'config', s.config, 'visibility', s.visibility,
      'created_at', utc(s.created_at)) as item
    from saved_reports s where s.owner_id = ?::uuid order by s.id desc`,
  schedules: `select json_build_object('id', e.id, 'name', e.name, 'cron', j.cron, 'time_zone', j.time_zone,
      'request', e.request, 'report', e.report, 'destination', e.destination,
      'created_at', utc(e.created_at)) as item
    from extraction_schedules e join job_schedules j on j.key = e.schedule_key
    where e.owner_id = ?::uuid order by e.id desc`,
  sign_ins: `select json_build_object('event_type', e.event_type, 'at', utc(e.at),
      'address', e.data ->> 'address') as item
    from events e where e.user_id = ?::uuid and e.event_type in ('auth.login', 'auth.login_failed', 'auth.registered')
    order by e.position desc`,
};

/** The names of the parts besides the account. */
export const personalDataParts = Object.keys(queries);

const parts = Object.entries(queries).map(
  ([name, query]) =>
    `'${name}', (select coalesce(json_agg(item), '[]') from (${query} limit ${NEWEST}) part)`,
);

/**
 * All stored data about a user: the account, and rows that belong to the user or record their activity. For the
 * caller's own account, or with `admin.users` and all permissions of the account.
 * @throws EstateError `forbidden`, `session_required`, `not_found`.
 */
export async function readPersonalData(ctx: Ctx, id: string): Promise<JsonText> {
  const own = ctx.caller.userId === id;
  if (!own) requirePermission(ctx.caller, 'admin.users');
  if (!own) {
    // Some of this is otherwise only visible to the user.
    const user = await ctx.db('users').where({ id }).first('id', 'role');
    if (!user) throw notFound('user', id);
    await requireControlOf(ctx, ctx.db, user);
  }
  // The scopes of a token do not cover this data.
  if (own && !may(ctx.caller, 'admin.users')) requireSession(ctx.caller);
  const { rows } = await ctx.db.raw(
    `select json_build_object(
       'account', json_build_object('id', u.id, 'email', u.email, 'display_name', u.display_name, 'role', u.role,
         'locale', u.locale, 'auth_provider', u.auth_provider, 'is_active', u.is_active,
         'ui_preferences', u.ui_preferences, 'notification_preferences', u.notification_preferences,
         'created_at', utc(u.created_at), 'last_login', utc(u.last_login)),
       'writes', (select coalesce(json_object_agg(event_type, n), '{}') from (
         select e.event_type, count(*) as n from events e where e.user_id = u.id group by 1 order by 1) counted),
       ${parts.join(',\n')})::text as item
     from users u where u.id = ?::uuid`,
    [...parts.map(() => id), id],
  );
  if (!rows[0]) throw notFound('user', id);
  return rows[0].item;
}
