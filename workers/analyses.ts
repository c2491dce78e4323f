import { scan } from '../domain/analysis/compliance/scans.run.ts';
import { analyseModernizations } from '../domain/analysis/modernizations/modernizations.run.ts';
import {
  complianceScanJob,
  duplicatesJob,
  modernizationsJob,
  vendorHierarchyJob,
  vendorsJob,
} from '../domain/analysis/runs/analysis.jobs.ts';
import type { JobProcessor } from '../domain/kernel/jobs/jobs.running.ts';
import { findDuplicateCards } from '../integrations/duplicates/run.ts';
import { createCardReader } from '../integrations/models/read-compliance.ts';
import { analyseSuppliers } from '../integrations/suppliers/suppliers.run.ts';
import { processesAnalysis } from './analysis.ts';

/** The processors of all analyses, which share one life cycle; see processesAnalysis. */
export const analysisProcessors: JobProcessor[] = [
  processesAnalysis(complianceScanJob, (job, run, services) =>
    scan(job, run, (before) => createCardReader(services, run.id, job.signal, before)),
  ),
  processesAnalysis(vendorsJob, (job, run, services) => analyseSuppliers(services, job, run, 'categories')),
  processesAnalysis(vendorHierarchyJob, (job, run, services) =>
    analyseSuppliers(services, job, run, 'hierarchy'),
  ),
  processesAnalysis(modernizationsJob, analyseModernizations),
  processesAnalysis(duplicatesJob, findDuplicateCards),
];
