import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { analysisPayload } from '../runs/runs.types.ts';

/** Looks at the landscape by the rules of regulations. */
export const complianceScanJob = defineJob({
  kind: 'compliance_scan',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
