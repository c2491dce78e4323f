import type { Ctx } from '../../../domain/kernel/context.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { INITIATIVE, PPM_TOPIC } from '../../../domain/modelling/ppm/ppm.model.ts';
import type { Report } from '../../kernel/report.ts';

/** Common declarations of the reports on portfolios of initiatives. */
export const ofPortfolio = {
  permission: 'ppm.view',
  permissionNote: 'reports.ppm_dashboard',
  module: 'ppm',
  // plans, lines and status reports have no history
  timeTravel: false,
} as const satisfies Partial<Report>;

/** @throws EstateError `forbidden`. */
export function requirePortfolio(ctx: Ctx): void {
  requirePermission(ctx.caller, 'reports.ppm_dashboard');
}

/** Whether a report shows costs; roles on single initiatives are not considered, since the result is shared. */
export const showsCosts = (ctx: Ctx): boolean => may(ctx.caller, 'costs.view');

/** Whether figures over initiatives depend on a topic. */
export const followsInitiatives = (topic: string): boolean =>
  topic === `cards:${INITIATIVE}` || topic === PPM_TOPIC || topic === 'metamodel' || topic === 'users';
