import { dependencies } from './dependencies.ts';
import { budgetLines, costLines } from './lines.ts';
import type { PpmKind } from './ppm.kinds.ts';
import type { PpmRow, WbsRow } from './ppm.types.ts';
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

/**
 * The rows of a kind in the order in which they are told to have gone: items before those above them, so that the
 * events, undone backwards and once more backwards, find what each hangs on.
 */
export function inLeavingOrder(kind: PpmKind, rows: PpmRow[]): PpmRow[] {
  if (kind !== wbsItems) return rows;
  const above = new Map((rows as WbsRow[]).map(({ id, parent_id }) => [id, parent_id]));
  const depthOf = (id: string): number => {
    let depth = 0;
    for (let at = above.get(id); at; at = above.get(at)) depth += 1;
    return depth;
  };
  const depths = new Map(rows.map(({ id }) => [id, depthOf(id)]));
  return rows.toSorted((a, b) => depths.get(b.id)! - depths.get(a.id)!);
}
