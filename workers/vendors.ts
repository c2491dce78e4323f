import { vendorHierarchyJob, vendorsJob } from '../domain/analysis/suppliers/suppliers.jobs.ts';
import { analyseSuppliers } from '../integrations/suppliers/suppliers.run.ts';
import { processesAnalysis } from './analysis.ts';

/** Finds out who the suppliers are, and what each supplies. */
export const vendorsProcessor = processesAnalysis(vendorsJob, async (job, run, services) => {
  await analyseSuppliers(services, job, run, 'categories');
  return undefined;
});

/** Finds out which suppliers belong together, and which products they have. */
export const vendorHierarchyProcessor = processesAnalysis(vendorHierarchyJob, async (job, run, services) => {
  await analyseSuppliers(services, job, run, 'hierarchy');
  return undefined;
});
