import type { Knex } from 'knex';
import { invalidField } from '../../../platform/errors.ts';
import { loadPlan } from './plan.load.ts';
import { hasCircle } from './plan.network.ts';
import type { Plan } from './plan.types.ts';
import { MAX_WBS_DEPTH } from './ppm.types.ts';

/** The plan as it would be with a part moved below another item, or to the top. */
function moved(plan: Plan, id: string, above: string | null): Plan {
  const below = plan.above.slice();
  below[plan.ids.indexOf(id)] = above === null ? -1 : plan.ids.indexOf(above);
  return { ...plan, above: below };
}

/**
 * Refuses a move after which something would have to wait for itself, by what dependencies of the items above imply.
 * @param field what the request calls the place.
 * @throws EstateError `validation_failed`.
 */
export async function requireNoCircle(
  sql: Knex.Transaction,
  cardId: string,
  move: { id: string; above: string | null; field: string },
): Promise<void> {
  const depends = await sql('ppm_dependencies').where({ card_id: cardId }).first('id');
  if (!depends) return;
  if (hasCircle(moved(await loadPlan(sql, cardId), move.id, move.above))) {
    throw invalidField(move.field, 'dependency_cycle', 'would make something wait for itself');
  }
}

/** An item as far as its place in the work breakdown goes. */
interface Placed {
  id: string;
  parent_id: string | null;
}

/** How many levels an item and those below it take; 1 for one alone. */
function heightOf(id: string, items: readonly Placed[]): number {
  let height = 0;
  for (let level = new Set([id]); level.size > 0 && height <= MAX_WBS_DEPTH; height += 1) {
    level = new Set(items.flatMap((item) => (level.has(item.parent_id ?? '') ? item.id : [])));
  }
  return height;
}

/**
 * Why an item cannot lie below another; undefined where it can.
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
  for (let above = parent_id; above !== null; above = byId.get(above)?.parent_id ?? null) {
    if (above === id) return { code: 'parent_cycle', message: 'lies below the item itself' };
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
