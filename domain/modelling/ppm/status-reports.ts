import { dayFaults, refuse } from './ppm.checks.ts';
import { nameOf, type PpmKind } from './ppm.kinds.ts';
import { MAX_NOTES } from './ppm.types.ts';

/** Somebody beside an id, as `{id, display_name}`. */
const reporter = `case when t.reporter_id is null then null
  else json_build_object('id', t.reporter_id, 'display_name', coalesce(${nameOf('reporter_id')}, '')) end`;

/** The members of a status report, over the alias `t`. */
export const statusReportMembers: Record<string, string> = {
  id: 't.id',
  initiative_id: 't.card_id',
  reporter_id: 't.reporter_id',
  reporter,
  report_date: 't.report_date',
  schedule_health: 't.schedule_health',
  cost_health: 't.cost_health',
  scope_health: 't.scope_health',
  summary: 't.summary',
  accomplishments: 't.accomplishments',
  next_steps: 't.next_steps',
  created_at: 'utc(t.created_at)',
  updated_at: 'utc(t.updated_at)',
};

/** The order in which the newest report of an initiative comes first. */
export const NEWEST_FIRST = 't.report_date desc, t.created_at desc, t.id desc';

/** How an initiative goes, as its people say from time to time. */
export const statusReports: PpmKind = {
  entity: 'ppm_report',
  what: 'status report',
  table: 'ppm_reports',
  most: MAX_NOTES,
  told: ['report_date'],
  defaultSort: 'report_date',
  list: () => ({
    name: 'ppm-reports',
    from: 'ppm_reports t',
    id: 't.id',
    idType: 'uuid',
    sorts: {
      report_date: { sql: 't.report_date::text', type: 'text', filled: true },
      created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
    },
    defaultSort: 'report_date',
    defaultDir: 'desc',
    search: `fold(coalesce(t.summary, '') || ' ' || coalesce(t.accomplishments, '') || ' ' || coalesce(t.next_steps, ''))`,
    members: statusReportMembers,
  }),
  check(values, { ctx, before }) {
    refuse(dayFaults(values, ['report_date']));
    if (before === null) values.reporter_id = ctx.caller.userId;
  },
};
