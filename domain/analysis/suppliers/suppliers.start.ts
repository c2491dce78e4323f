import type { Ctx } from '../../kernel/context.ts';
import { type StartedRun, startAnalysis, vendorHierarchyJob, vendorsJob } from '../runs/runs.ts';

/** Starts a run that identifies suppliers and their categories. @throws EstateError `forbidden`, `wrong_state`. */
export const startVendors = (ctx: Ctx): Promise<StartedRun> =>
  startAnalysis(ctx, { type: 'vendors', job: vendorsJob });

/**
 * Starts a run that identifies the hierarchy of suppliers and their products.
 * @throws EstateError `forbidden`, `wrong_state`.
 */
export const startVendorHierarchy = (ctx: Ctx): Promise<StartedRun> =>
  startAnalysis(ctx, { type: 'vendor_hierarchy', job: vendorHierarchyJob });
