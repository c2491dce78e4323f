import { analysisPayload } from '../../analysis/runs.types.ts';
import { defineJob } from '../jobs.define.ts';

/** Finds out who the suppliers are, and what each supplies. */
export const vendorsJob = defineJob({
  kind: 'vendors',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: false,
});

/** Finds out which suppliers belong together, and which products they have. */
export const vendorHierarchyJob = defineJob({
  kind: 'vendor_hierarchy',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 3,
  resumable: false,
});
