import type { StoredRow } from '../../kernel/events/row-changes.ts';

/** The card type whose cards have plans, reports and lines. */
export const INITIATIVE = 'Initiative';

/** The topic that every write here raises: reports over initiatives depend on it. */
export const PPM_TOPIC = 'ppm';

export const healths = ['onTrack', 'atRisk', 'offTrack'] as const;

export const spendings = ['capex', 'opex'] as const;

export const projectRiskStatuses = ['open', 'mitigating', 'mitigated', 'closed', 'accepted'] as const;
export const taskStatuses = ['todo', 'in_progress', 'done', 'blocked'] as const;
export type TaskStatus = (typeof taskStatuses)[number];
export const taskPriorities = ['critical', 'high', 'medium', 'low'] as const;

/** What stands at an end of a dependency. */
export const planKinds = ['task', 'wbs'] as const;
export type PlanKind = (typeof planKinds)[number];

/** A row of one of the tables, as JSON. */
export interface PpmRow extends StoredRow {
  id: string;
  /** The initiative. */
  card_id: string;
}

/** A row of `ppm_tasks`. Days are `YYYY-MM-DD`. */
export interface TaskRow extends PpmRow {
  title: string;
  status: TaskStatus;
  assignee_id: string | null;
  start_date: string | null;
  due_date: string | null;
  wbs_id: string | null;
}

/** A row of `ppm_wbs`: an item of the work breakdown. */
export interface WbsRow extends PpmRow {
  parent_id: string | null;
  title: string;
  start_date: string | null;
  end_date: string | null;
}

/** Cost and budget lines that one initiative may have. */
export const MAX_LINES = 1_000;
/** Status reports, and project risks, that one initiative may have. */
export const MAX_NOTES = 1_000;
export const MAX_TASKS = 10_000;
export const MAX_WBS = 2_000;
export const MAX_DEPENDENCIES = 20_000;
export const MAX_TASK_COMMENTS = 1_000;
/** How deep the work breakdown may go; roots lie on level 1. */
export const MAX_WBS_DEPTH = 10;
/** The largest amount on a line, so that sums keep their cents. */
export const MAX_AMOUNT = 1e11;
