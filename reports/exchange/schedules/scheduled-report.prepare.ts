import { visibleSavedReports } from '../../../domain/collaboration/saved-reports/saved-reports.commands.ts';
import { seenDigest } from '../../../domain/collaboration/saved-reports/saved-reports.seen.ts';
import type { ReportQuery } from '../../../domain/inventory/reports/report.job.ts';
import { isPicture } from '../../../domain/inventory/reports/report.options.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { AppPermission } from '../../../domain/kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { loadSettings, requireModule } from '../../../domain/kernel/settings/settings.read.ts';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { planQuery, type QueryPlan } from '../../analysis/query/query.plan.ts';
import { reportRequest } from '../../kernel/report.cards.ts';
import { checkReport, type ReportRequest } from '../../kernel/report.ts';
import { type Content, type Part, partsOf } from './scheduled-report.content.ts';
import type { ScheduledReport } from './scheduled-report.types.ts';

/** A saved report as a schedule reads it. */
interface SavedRow {
  id: string;
  name: string;
  report_type: string;
  config: Record<string, unknown>;
  digest: string;
}

/** A part of a saved report that the caller may read now. */
export type PreparedPart = { title?: string; hidden: string[] } & (
  | { kind: 'report'; request: ReportRequest }
  | { kind: 'query'; query: ReportQuery; plan: QueryPlan }
  | { kind: 'kpis'; from?: string; to?: string }
);

/** A saved report that the caller may read now, with what it consists of. */
export interface PreparedReport {
  saved: SavedRow;
  parts: PreparedPart[];
  /** The permissions that determine its content. */
  permissions: AppPermission[];
}

/**
 * Reads a saved report for a schedule, and checks that the caller may read all of it.
 * @throws EstateError `forbidden` if the caller does not see it any more, or lacks a permission; 422.
 */
export async function prepareReport(
  ctx: Ctx,
  wanted: ScheduledReport,
  sql: Sql = ctx.db,
): Promise<PreparedReport> {
  const saved = await readSaved(ctx, sql, wanted.saved_report_id);
  const refuse = (member: string, message: string) =>
    invalidField(`report.${member}`, 'not_offered', message);
  const parts = partsOf(saved.report_type, saved.config);
  if (parts.length === 0) {
    throw refuse('saved_report_id', 'has nothing that can be written to a file');
  }
  const isBoard = saved.report_type === 'dashboard';
  const titles = parts.flatMap(({ title }) => title ?? []);
  if (isBoard && wanted.table !== undefined && !titles.includes(wanted.table)) {
    throw refuse('table', `is none of the titles ${titles.join(', ')}`);
  }
  if (wanted.table !== undefined && wanted.format !== 'csv') throw refuse('table', 'is only offered for csv');
  const settings = await loadSettings(sql);
  const permissions = new Set<AppPermission>();
  const need = (permission: AppPermission) => {
    requirePermission(ctx.caller, permission);
    permissions.add(permission);
  };
  const prepared: PreparedPart[] = [];
  for (const { title, content } of parts) {
    const named = { ...(title === undefined ? {} : { title }), hidden: content.hidden };
    if (content.kind === 'report') {
      const { report } = content;
      if (report.module) requireModule(settings, report.module);
      if (report.permission !== 'login') need(report.permission);
      if (!report.chart && isPicture(wanted.format))
        throw refuse('format', `is not offered: ${report.name} has no picture`);
      prepared.push({ ...named, kind: 'report', request: await requestOf(ctx, content, wanted) });
    } else {
      need('reports.ea_dashboard');
      if (content.kind === 'kpis') {
        need('inventory.view');
        prepared.push({ ...content, ...named });
      } else {
        const plan = await planQuery(ctx, content.query);
        prepared.push({ ...named, kind: 'query', query: content.query, plan });
      }
    }
  }
  return { saved, parts: prepared, permissions: [...permissions] };
}

async function requestOf(
  ctx: Ctx,
  { report, params, filter, scope, asOf }: Part['content'] & Extract<Content, { kind: 'report' }>,
  { format }: ScheduledReport,
): Promise<ReportRequest> {
  checkReport(report, ctx, params);
  const at = asOf === undefined ? undefined : new Date(asOf);
  return await reportRequest(ctx, report, params, { filter, scope, asOf: at, format });
}

async function readSaved(ctx: Ctx, sql: Sql, id: string): Promise<SavedRow> {
  const row = await query(sql).row<SavedRow>`select s.id, s.name, s.report_type, s.config,
      ${embed(seenDigest(fragment`s.config`))} as digest
    from saved_reports s where s.id = ${id}::uuid and ${embed(visibleSavedReports(ctx))}`;
  if (row) return row;
  throw new EstateError(
    'forbidden',
    'The saved report no longer exists, or is not shared with the owner of the schedule.',
  );
}

/**
 * Refuses a content that somebody else may have changed since the owner of the schedule has seen it: an editor must not read
 * with the rights of the owner.
 * @param digest of the content that the owner has seen. @throws EstateError `forbidden`.
 */
export function requireSeen({ saved }: PreparedReport, digest: string | null): void {
  if (saved.digest === digest) return;
  throw new EstateError(
    'forbidden',
    'The saved report was changed, perhaps by somebody else: look at it, then resume the schedule.',
  );
}
