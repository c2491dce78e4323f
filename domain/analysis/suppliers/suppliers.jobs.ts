import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { analysisPayload } from '../runs/runs.types.ts';

/** Finds out who the suppliers are, and what each supplies. It goes on with the step at which it was. */
export const vendorsJob = defineJob({
  kind: 'vendors',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});

/** Finds out which suppliers belong together, and which products they have. It goes on with the step at which it was. */
export const vendorHierarchyJob = defineJob({
  kind: 'vendor_hierarchy',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: true,
});
