import { modernizationsJob } from '../domain/analysis/modernizations/modernizations.job.ts';
import { analyseModernizations } from '../domain/analysis/modernizations/modernizations.run.ts';
import { processesAnalysis } from './analysis.ts';

/** Ranks the cards of a type by how much speaks for modernising them. */
export const modernizationsProcessor = processesAnalysis(modernizationsJob, async (job, run) => {
  await analyseModernizations(job, run);
  return undefined;
});
