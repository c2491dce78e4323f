import { queryRows } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { lockInitiative, requirePpmWriter } from './initiatives.ts';
import { loadPlan } from './plan.load.ts';
import { hasCycle } from './plan.network.ts';
import { partKind } from './plan.types.ts';
import { refuse } from './ppm.checks.ts';
import { insertPpm, recordChange } from './ppm.commands.ts';
import type { PpmKind, PpmWrite } from './ppm.kinds.ts';
import { Dependency, type DependencyRow } from './ppm.model.ts';
import { MAX_DEPENDENCIES, type PlanKind } from './ppm.types.ts';

export interface DependencyInput {
  pred_kind: PlanKind;
  pred_id: string;
  succ_kind: PlanKind;
  succ_id: string;
  kind: 'FS';
}

const kindOf = (end: 'pred' | 'succ') => `case when t.${end}_task_id is null then 'wbs' else 'task' end`;
const idOf = (end: 'pred' | 'succ') => `coalesce(t.${end}_task_id, t.${end}_wbs_id)`;

/** What must be finished before something else starts. */
export const dependencies: PpmKind<DependencyRow> = {
  model: Dependency,
  entity: 'ppm_dependency',
  what: 'task dependency',
  limit: MAX_DEPENDENCIES,
  exclusive: true,
  hidden: ['pred_task_id', 'pred_wbs_id', 'succ_task_id', 'succ_wbs_id', 'updated_at'],
  members: () => ({
    pred_kind: kindOf('pred'),
    pred_id: idOf('pred'),
    succ_kind: kindOf('succ'),
    succ_id: idOf('succ'),
  }),
};

/**
 * Adds a dependency between tasks and items of one initiative. The initiative is locked exclusively, so that no two
 * concurrent requests close a cycle together.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `duplicate_dependency`, `limit_reached`.
 */
export async function createDependency(
  ctx: Ctx,
  initiativeId: string,
  input: DependencyInput,
): Promise<JsonText> {
  requirePpmWriter(ctx);
  return await command(ctx, async (work) => {
    const initiative = await lockInitiative(work, ctx, initiativeId, true);
    const plan = await loadPlan(work.sql, initiative.id);
    const pred = input.pred_id.toLowerCase();
    const succ = input.succ_id.toLowerCase();
    const faults: FieldError[] = [];
    const partOf = (field: string, kind: PlanKind, id: string): number => {
      const part = plan.ids.indexOf(id);
      if (part >= 0 && partKind(plan, part) === kind) return part;
      const what = kind === 'task' ? 'task' : 'WBS item';
      faults.push({ field, code: 'unknown_value', message: `is no ${what} of this initiative` });
      return -1;
    };
    const from = partOf('pred_id', input.pred_kind, pred);
    const to = partOf('succ_id', input.succ_kind, succ);
    if (pred === succ) faults.push({ field: 'succ_id', code: 'same', message: 'cannot follow itself' });
    refuse(faults);
    if (plan.preds.some((other, n) => other === from && plan.succs[n] === to)) {
      throw new EstateError('duplicate_dependency', 'This dependency exists already.');
    }
    const preds = Int32Array.from([...plan.preds, from]);
    const succs = Int32Array.from([...plan.succs, to]);
    if (hasCycle({ ...plan, preds, succs })) {
      throw invalidField('succ_id', 'dependency_cycle', 'would make something depend on itself');
    }
    return await insertPpm(work, ctx, dependencies, initiative, {
      [`pred_${input.pred_kind}_id`]: pred,
      [`succ_${input.succ_kind}_id`]: succ,
      kind: input.kind,
    });
  });
}

/** Deletes the dependencies of tasks and items that are about to be deleted. */
export async function deleteDependencies(
  { work, ctx, initiative }: Pick<PpmWrite, 'work' | 'ctx' | 'initiative'>,
  ids: readonly string[],
): Promise<void> {
  const deleted = await queryRows<{ row: DependencyRow }>(
    work.sql,
    `with deleted as (
       delete from ppm_dependencies t where t.card_id = ?::uuid
         and (${idOf('pred')} = any(?::uuid[]) or ${idOf('succ')} = any(?::uuid[]))
       returning t.id, to_jsonb(t) as row
     ) select row from deleted order by id`,
    [initiative.id, ids, ids],
  );
  for (const { row } of deleted) await recordChange(work, ctx, dependencies, initiative, row, null);
}
