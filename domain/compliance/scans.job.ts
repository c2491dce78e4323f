import { analysisPayload } from '../analysis/runs.types.ts';
import { defineJob } from '../jobs/jobs.define.ts';

/** Looks at the landscape by the rules of regulations. */
export const complianceScanJob = defineJob({
  kind: 'compliance_scan',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
