import { dependencies } from './dependencies.ts';
import { budgetLines, costLines } from './lines.ts';
import type { PpmKind } from './ppm.kinds.ts';
import { projectRisks } from './project-risks.ts';
import { statusReports } from './status-reports.ts';
import { taskComments } from './task-comments.ts';
import { tasks } from './tasks.ts';
import { wbsItems } from './wbs.ts';

/** What goes with an initiative, in the order in which it goes: what hangs on others before them. */
export const ppmLeaving: readonly PpmKind[] = [
  statusReports,
  costLines,
  budgetLines,
  projectRisks,
  dependencies,
  taskComments,
  tasks,
  wbsItems,
];
