import type { Knex } from 'knex';
import { invalidField } from '../../../platform/errors.ts';
import { loadPlan } from './plan.load.ts';
import { hasCycle } from './plan.network.ts';
import type { Plan } from './plan.types.ts';
import { MAX_WBS_DEPTH } from './ppm.types.ts';

/** The plan with a part moved below another item, or to the top. */
function withParent(plan: Plan, id: string, parent: string | null): Plan {
  const parents = plan.parents.slice();
  parents[plan.ids.indexOf(id)] = parent === null ? -1 : plan.ids.indexOf(parent);
  return { ...plan, parents };
}

/**
 * Refuses a move after which something would depend on itself, also by dependencies of the items above.
 * @param field the name of the parent in the request.
 * @throws EstateError `validation_failed`.
 */
export async function requireNoCycle(
  sql: Knex.Transaction,
  cardId: string,
  move: { id: string; parent: string | null; field: string },
): Promise<void> {
  const depends = await sql('ppm_dependencies').where({ card_id: cardId }).first('id');
  if (!depends) return;
  if (hasCycle(withParent(await loadPlan(sql, cardId), move.id, move.parent))) {
    throw invalidField(move.field, 'dependency_cycle', 'would make something depend on itself');
  }
}

/** An item with its place in the work breakdown. */
interface Placed {
  id: string;
  parent_id: string | null;
}

/** The number of levels of an item and those below it; 1 for a single item. */
function heightOf(id: string, items: readonly Placed[]): number {
  let height = 0;
  for (let level = new Set([id]); level.size > 0 && height <= MAX_WBS_DEPTH; height += 1) {
    level = new Set(items.flatMap((item) => (level.has(item.parent_id ?? '') ? item.id : [])));
  }
  return height;
}

/**
 * Why an item cannot be below another; undefined where it can.
 * @param id null for a new item. @param parent_id null for a root.
 */
export function placeFault(
  items: readonly Placed[],
  id: string | null,
  parent_id: string | null,
): { code: string; message: string } | undefined {
  const byId = new Map(items.map((item) => [item.id, item]));
  if (parent_id !== null && !byId.has(parent_id)) {
    return { code: 'unknown_value', message: 'is no WBS item of this initiative' };
  }
  let depth = 0;
  for (let at = parent_id; at !== null; at = byId.get(at)?.parent_id ?? null) {
    if (at === id) return { code: 'parent_cycle', message: 'lies below the item itself' };
    depth += 1;
    if (depth > MAX_WBS_DEPTH) break;
  }
  if (depth + (id === null ? 1 : heightOf(id, items)) > MAX_WBS_DEPTH) {
    return { code: 'too_deep', message: `would reach below level ${MAX_WBS_DEPTH}` };
  }
  return undefined;
}

/** @throws EstateError `validation_failed` naming `parent_id`. */
export async function requirePlace(
  sql: Knex.Transaction,
  cardId: string,
  id: string | null,
  parentId: string | null,
): Promise<void> {
  const items: Placed[] = await sql('ppm_wbs').where({ card_id: cardId }).select('id', 'parent_id');
  const fault = placeFault(items, id, parentId);
  if (fault) throw invalidField('parent_id', fault.code, fault.message);
}
