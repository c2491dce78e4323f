import { lockCards } from '../../inventory/cards/cards.load.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { UndoneEvent, UndoRefusal, UndoSpec } from '../../kernel/undo/undo.types.ts';
import { dependencies } from './dependencies.ts';
import { budgetLines, costLines, type LineTable, writeSum } from './lines.ts';
import { loadPlan } from './plan.load.ts';
import { hasCircle } from './plan.network.ts';
import type { PpmKind } from './ppm.kinds.ts';
import { PPM_TOPIC } from './ppm.types.ts';
import { projectRisks } from './project-risks.ts';
import { statusReports } from './status-reports.ts';
import { taskComments } from './task-comments.ts';
import { tasks } from './tasks.ts';
import { wbsItems } from './wbs.ts';

function specOf(kind: PpmKind, settle?: UndoSpec['settle']): UndoSpec {
  const types = (verb: string) => [`${kind.entity}.${verb}` as EventType];
  return {
    entity: kind.what,
    table: kind.table,
    events: {
      created: types('created'),
      ...(kind === dependencies ? {} : { updated: types('updated') }),
      deleted: types('deleted'),
    },
    topics: () => [PPM_TOPIC],
    ...(settle ? { settle } : {}),
  };
}

/** The card on which a row is now: a merge may have moved it; that of its event where it is gone. */
async function cardOf({ sql }: Work, table: string, event: UndoneEvent): Promise<string> {
  const row = await sql(table).where({ id: event.id }).first('card_id');
  return row?.card_id ?? event.card_id;
}

const addUp =
  (table: LineTable) =>
  async (work: Work, ctx: Ctx, event: UndoneEvent): Promise<null> => {
    const cardId = await cardOf(work, table, event);
    await lockCards(work, [cardId]);
    await writeSum(work, ctx, cardId, table);
    return null;
  };

/** What may hang on a row of a plan, as columns that refer to it. */
const references: Record<string, string[]> = {
  ppm_tasks: ['ppm_task_comments.task_id', 'ppm_dependencies.pred_task_id', 'ppm_dependencies.succ_task_id'],
  ppm_wbs: [
    'ppm_wbs.parent_id',
    'ppm_tasks.wbs_id',
    'ppm_dependencies.pred_wbs_id',
    'ppm_dependencies.succ_wbs_id',
  ],
};

/** Refuses what would leave a plan with loose ends, or something waiting for itself. */
const keepPlan =
  ({ table }: PpmKind) =>
  async (work: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> => {
    const cardId = await cardOf(work, table, event);
    await lockCards(work, [cardId]);
    if (event.event_type.endsWith('.created')) {
      for (const reference of references[table] ?? []) {
        const [other, column] = reference.split('.') as [string, string];
        if (
          await work
            .sql(other)
            .where({ [column]: event.id })
            .first('id')
        ) {
          return { code: 'in_use', message: 'Something else in the plan hangs on it.' };
        }
      }
      return null;
    }
    if (!hasCircle(await loadPlan(work.sql, cardId))) return null;
    return { code: 'dependency_cycle', message: 'Something in the plan would wait for itself.' };
  };

/** How writes to what initiatives have are undone. */
export const ppmUndo: UndoSpec[] = [
  specOf(statusReports),
  specOf(costLines, addUp('ppm_cost_lines')),
  specOf(budgetLines, addUp('ppm_budget_lines')),
  specOf(projectRisks),
  specOf(wbsItems, keepPlan(wbsItems)),
  specOf(tasks, keepPlan(tasks)),
  specOf(taskComments),
  specOf(dependencies, keepPlan(dependencies)),
];
