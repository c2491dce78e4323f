import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { analysisPayload } from './runs.types.ts';

/** A job that executes a run; an interrupted one resumes with the current step. */
const analysisJob = (kind: string) =>
  defineJob({ kind, queue: 'bulk', payload: analysisPayload, attempts: 3, resumable: true });

/** Finds cards that represent the same object. */
export const duplicatesJob = analysisJob('duplicates');
/** Scores the cards of a type for modernization. */
export const modernizationsJob = analysisJob('modernizations');
/** Identifies the suppliers and the category of each. */
export const vendorsJob = analysisJob('vendors');
/** Identifies the hierarchy of suppliers, and their products. */
export const vendorHierarchyJob = analysisJob('vendor_hierarchy');
/** Checks the landscape by the rules of regulations. */
export const complianceScanJob = analysisJob('compliance_scan');
