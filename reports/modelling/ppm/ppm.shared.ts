import type { Ctx } from '../../../domain/kernel/context.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { INITIATIVE, PPM_TOPIC } from '../../../domain/modelling/ppm/ppm.model.ts';
import type { Report } from '../../kernel/report.ts';

/** What all reports on portfolios of initiatives declare. */
export const ofPortfolio = {
  permission: 'ppm.view',
  permissionNote: 'reports.ppm_dashboard',
  module: 'ppm',
  // plans, lines and status reports of the past are not kept as tables
  timeTravel: false,
} as const satisfies Partial<Report>;

/** @throws EstateError `forbidden`. */
export function requirePortfolio(ctx: Ctx): void {
  requirePermission(ctx.caller, 'reports.ppm_dashboard');
}

/** Whether a report shows costs; a role on single initiatives makes no difference, since many share the answer. */
export const showsCosts = (ctx: Ctx): boolean => may(ctx.caller, 'costs.view');

/** What figures over initiatives follow from. */
export const followsInitiatives = (topic: string): boolean =>
  topic === `cards:${INITIATIVE}` || topic === PPM_TOPIC || topic === 'metamodel' || topic === 'users';
