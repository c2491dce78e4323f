import { recalculateJob } from '../domain/calculations/recalculate.job.ts';
import { recalculateType } from '../domain/calculations/recalculate.type.ts';
import { processes } from '../domain/jobs/jobs.running.ts';

/** Runs the formulas of a card type over all its cards. */
export const recalculateProcessor = processes(recalculateJob, recalculateType);
