import { scan } from '../domain/compliance/scans.run.ts';
import { complianceScanJob } from '../domain/jobs/kinds/compliance-scan.ts';
import { processesAnalysis } from './analysis.ts';

/** Carries out compliance scans. */
export const complianceScanProcessor = processesAnalysis(complianceScanJob, (job, run) => scan(job, run));
