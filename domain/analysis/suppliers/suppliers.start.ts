import type { Ctx } from '../../kernel/context.ts';
import { vendorHierarchyJob, vendorsJob } from '../runs/analysis.jobs.ts';
import { type StartedRun, startAnalysis } from '../runs/runs.start.ts';

/** Starts finding out who the suppliers are, and what each supplies. @throws EstateError `forbidden`, `wrong_state`. */
export const startVendors = (ctx: Ctx): Promise<StartedRun> =>
  startAnalysis(ctx, { type: 'vendors', job: vendorsJob });

/**
 * Starts finding out which suppliers belong together, and which products they have.
 * @throws EstateError `forbidden`, `wrong_state`.
 */
export const startVendorHierarchy = (ctx: Ctx): Promise<StartedRun> =>
  startAnalysis(ctx, { type: 'vendor_hierarchy', job: vendorHierarchyJob });
