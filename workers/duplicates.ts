import { duplicatesJob } from '../domain/analysis/duplicates/duplicates.job.ts';
import { carrySearch } from '../integrations/duplicates/run.ts';
import { processesAnalysis } from './analysis.ts';

/** Finds cards that stand for one thing; see carrySearch. */
export const duplicatesProcessor = processesAnalysis(duplicatesJob, carrySearch);
