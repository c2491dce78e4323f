import { recalculateJob, recalculateType } from '../domain/inventory/calculations/recalculate.type.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

/** Runs the formulas of a card type over all its cards. */
export const recalculateProcessor = processes(recalculateJob, recalculateType);
