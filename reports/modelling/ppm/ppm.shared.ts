import type { Ctx } from '../../../domain/kernel/context.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { INITIATIVE, PPM_TOPIC } from '../../../domain/modelling/ppm/ppm.model.ts';
import type { Report } from '../../kernel/report.ts';

/** Common declarations of the reports on portfolios of initiatives. */
export const ofPortfolio = {
  permission: 'ppm.view',
  needs: ['reports.ppm_dashboard'],
  module: 'ppm',
  // plans, lines and status reports have no history
  isCurrentOnly: true,
} satisfies Partial<Report>;

/** Whether a report shows costs; roles on single initiatives are not considered, since the result is shared. */
export const showsCosts = (ctx: Ctx): boolean => may(ctx.caller, 'costs.view');

/** The topics of figures over initiatives. */
export const initiativeTopics = [`cards:${INITIATIVE}`, PPM_TOPIC, 'users'];
