/** The card type whose cards have plans, reports and lines. */
export const INITIATIVE = 'Initiative';

/** The topic that every write here raises: reports over initiatives depend on it. */
export const PPM_TOPIC = 'ppm';

export const healths = ['onTrack', 'atRisk', 'offTrack'] as const;
export const spendings = ['capex', 'opex'] as const;
export const projectRiskStatuses = ['open', 'mitigating', 'mitigated', 'closed', 'accepted'] as const;
export const taskStatuses = ['todo', 'in_progress', 'done', 'blocked'] as const;
export const taskPriorities = ['critical', 'high', 'medium', 'low'] as const;

/** What an end of a dependency is. */
export const planKinds = ['task', 'wbs'] as const;
export type PlanKind = (typeof planKinds)[number];

/** Cost and budget lines that one initiative may have. */
export const MAX_LINES = 1_000;
/** Status reports, and project risks, that one initiative may have. */
export const MAX_NOTES = 1_000;
export const MAX_TASKS = 10_000;
export const MAX_WBS = 2_000;
export const MAX_DEPENDENCIES = 20_000;
export const MAX_TASK_COMMENTS = 1_000;
/** Levels of the work breakdown; roots are on level 1. */
export const MAX_WBS_DEPTH = 10;
/** The largest amount on a line, so that sums keep their cents. */
export const MAX_AMOUNT = 1e11;
