import { complianceScanJob } from '../domain/analysis/compliance/scans.job.ts';
import { scan } from '../domain/analysis/compliance/scans.run.ts';
import { createCardReader } from '../integrations/models/read-compliance.ts';
import { processesAnalysis } from './analysis.ts';

/** Carries out compliance scans; where a language model is set up, it reads cards for rules that ask what they say. */
export const complianceScanProcessor = processesAnalysis(complianceScanJob, (job, run, services) =>
  scan(job, run, (before) => createCardReader(services, run.id, job.signal, before)),
);
