import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { needs, type UndoneEvent, type UndoRefusal } from '../../kernel/undo/undo.types.ts';
import {
  budgetLines,
  costLines,
  type LineTable,
  projectRisks,
  statusReports,
  writeSum,
} from './initiative.kinds.ts';
import { dependencies, taskComments, tasks, wbsItems } from './plan.kinds.ts';
import { loadPlan } from './plan.queries.ts';
import { hasCycle } from './plan.rules.ts';
import { type PpmKind, type PpmRow, ppmEvent } from './ppm.kinds.ts';
import { PPM_TOPIC, type WbsRow } from './ppm.model.ts';

type Options = Pick<Resource, 'undo' | 'transfer'>;

const right = needs('ppm.manage');
/** Lines need it even when they contain no amount. */
const costRight = needs('ppm.manage', 'costs.view');

function resourceOf(kind: PpmKind, { undo, transfer }: Options): Resource {
  const types = (verb: string) => [`${kind.entity}.${verb}` as EventType];
  return {
    model: kind.model,
    name: kind.what,
    events: {
      created: types('created'),
      ...(kind === dependencies ? {} : { updated: types('updated') }),
      deleted: types('deleted'),
    },
    card: 'card_id',
    topics: [PPM_TOPIC],
    undo,
    cardReferences: [{ column: 'card_id', follows: referencesFrom(kind.model.tableName) }],
    transfer,
  };
}

/** The card of a row now, which a merge may have changed; that of its event when the row is deleted. */
async function cardOf({ sql }: Work, table: string, event: UndoneEvent): Promise<string> {
  const row = await sql(table).where({ id: event.id }).first('card_id');
  return row?.card_id ?? event.card_id;
}

const updateSum =
  (table: LineTable) =>
  async (work: Work, ctx: Ctx, event: UndoneEvent): Promise<null> => {
    const cardId = await cardOf(work, table, event);
    await lockCards(work, [cardId]);
    await writeSum(work, ctx, cardId, table);
    return null;
  };

/** Columns that refer to rows of a plan, by table. */
const referencesTo: Readonly<Record<string, readonly [table: string, column: string][]>> = {
  ppm_tasks: [
    ['ppm_task_comments', 'task_id'],
    ['ppm_dependencies', 'pred_task_id'],
    ['ppm_dependencies', 'succ_task_id'],
  ],
  ppm_wbs: [
    ['ppm_wbs', 'parent_id'],
    ['ppm_tasks', 'wbs_id'],
    ['ppm_dependencies', 'pred_wbs_id'],
    ['ppm_dependencies', 'succ_wbs_id'],
  ],
};

/** The columns of a table that refer to rows of a plan. */
const referencesFrom = (table: string) =>
  Object.entries(referencesTo).flatMap(([target, references]) =>
    references.flatMap(([from, column]) => (from === table ? { column, table: target } : [])),
  );

/** Refuses an undo that would leave a plan with missing parts or a cycle. */
const checkPlan =
  (table: string) =>
  async (work: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> => {
    const cardId = await cardOf(work, table, event);
    await lockCards(work, [cardId]);
    if (event.event_type.endsWith('.created')) {
      for (const [other, column] of referencesTo[table] ?? []) {
        if (
          await work
            .sql(other)
            .where({ [column]: event.id })
            .first('id')
        ) {
          return { code: 'in_use', message: 'Something else in the plan refers to it.' };
        }
      }
      return null;
    }
    if (!hasCycle(await loadPlan(work.sql, cardId))) return null;
    return { code: 'dependency_cycle', message: 'Something in the plan would depend on itself.' };
  };

const byTitle = { label: 't.title' };

/** All kinds in the order in which they are deleted with an initiative: each before those that it refers to. */
const kinds: readonly [PpmKind, Options][] = [
  [statusReports, { undo: { right }, transfer: {} }],
  [
    costLines,
    {
      undo: { right: costRight, settle: updateSum('ppm_cost_lines') },
      transfer: { costs: ['planned', 'actual'] },
    },
  ],
  [
    budgetLines,
    { undo: { right: costRight, settle: updateSum('ppm_budget_lines') }, transfer: { costs: ['amount'] } },
  ],
  [projectRisks, { undo: { right }, transfer: byTitle }],
  [dependencies, { undo: { right, settle: checkPlan('ppm_dependencies') }, transfer: {} }],
  [taskComments, { undo: { right: { needs: ['ppm.view'], others: ['ppm.manage'] } }, transfer: {} }],
  [tasks, { undo: { right, settle: checkPlan('ppm_tasks') }, transfer: byTitle }],
  [wbsItems, { undo: { right, settle: checkPlan('ppm_wbs') }, transfer: byTitle }],
];

/** Deleted items, the deepest first, so that an undo, which runs backwards, restores parents before their children. */
function deepestFirst(items: WbsRow[]): WbsRow[] {
  const parents = new Map(items.map(({ id, parent_id }) => [id, parent_id]));
  const depthOf = (id: string): number => {
    let depth = 0;
    for (let parent = parents.get(id); parent; parent = parents.get(parent)) depth += 1;
    return depth;
  };
  const depths = new Map(items.map(({ id }) => [id, depthOf(id)]));
  return items.toSorted((a, b) => depths.get(b.id)! - depths.get(a.id)!);
}

/** Project portfolio: what initiatives plan, report and spend. */
export const ppmExtension: Extension = {
  resources: kinds.map(([kind, options]) => resourceOf(kind, options)),
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    for (const [kind] of kinds) {
      const rows = await deleteRowsOfCards<PpmRow>(work, kind.model.tableName, [...byId.keys()]);
      for (const row of kind === wbsItems ? deepestFirst(rows as WbsRow[]) : rows) {
        work.emit(ppmEvent(kind, byId.get(row.card_id)!, row, null));
      }
    }
  },
};
