import { recalculateType } from '../domain/calculations/recalculate.type.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { recalculateJob } from '../domain/jobs/kinds/recalculate.ts';

/** Runs the formulas of a card type over all its cards. */
export const recalculateProcessor = processes(recalculateJob, recalculateType);
