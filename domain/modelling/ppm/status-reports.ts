import { dayFaults, refuse } from './ppm.checks.ts';
import { nameOf, type PpmKind, ppmMembers } from './ppm.kinds.ts';
import { StatusReport, type StatusReportRow } from './ppm.model.ts';
import { MAX_NOTES } from './ppm.types.ts';

const reporter = `case when t.reporter_id is null then null
  else json_build_object('id', t.reporter_id, 'display_name', coalesce(${nameOf('reporter_id')}, '')) end`;

/** The members of a status report, over the alias `t`. */
export const statusReportMembers = { ...ppmMembers({ model: StatusReport }), reporter };

/** The order in which the newest report of an initiative comes first. */
export const NEWEST_FIRST = 't.report_date desc, t.created_at desc, t.id desc';

/** What people report on the state of an initiative from time to time. */
export const statusReports: PpmKind<StatusReportRow> = {
  model: StatusReport,
  entity: 'ppm_report',
  what: 'status report',
  limit: MAX_NOTES,
  eventMembers: ['report_date'],
  sorts: { report_date: { sql: 't.report_date::text', type: 'text', filled: true } },
  defaultSort: 'report_date',
  defaultDir: 'desc',
  search: `fold(coalesce(t.summary, '') || ' ' || coalesce(t.accomplishments, '') || ' ' || coalesce(t.next_steps, ''))`,
  members: () => ({ reporter }),
  check(values, { ctx, before }) {
    refuse(dayFaults(values, ['report_date']));
    if (before === null) values.reporter_id = ctx.caller.userId;
  },
};
