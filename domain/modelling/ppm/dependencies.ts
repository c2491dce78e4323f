import { EstateError, type FieldError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { holdInitiative, requirePpmWriter } from './initiatives.ts';
import { loadPlan } from './plan.load.ts';
import { hasCircle } from './plan.network.ts';
import { partKind } from './plan.types.ts';
import { refuse } from './ppm.checks.ts';
import { insertPpm, told } from './ppm.commands.ts';
import type { PpmKind, PpmWrite } from './ppm.kinds.ts';
import { MAX_DEPENDENCIES, type PlanKind, type PpmRow } from './ppm.types.ts';

export interface DependencyInput {
  pred_kind: PlanKind;
  pred_id: string;
  succ_kind: PlanKind;
  succ_id: string;
  kind: 'FS';
}

const kindOf = (end: 'pred' | 'succ') => `case when t.${end}_task_id is null then 'wbs' else 'task' end`;
const idOf = (end: 'pred' | 'succ') => `coalesce(t.${end}_task_id, t.${end}_wbs_id)`;

/** What has to be finished before something else starts. */
export const dependencies: PpmKind = {
  entity: 'ppm_dependency',
  what: 'dependency',
  table: 'ppm_dependencies',
  most: MAX_DEPENDENCIES,
  alone: true,
  list: () => ({
    name: 'ppm-dependencies',
    from: 'ppm_dependencies t',
    id: 't.id',
    idType: 'uuid',
    sorts: { created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true } },
    defaultSort: 'created_at',
    defaultDir: 'asc',
    members: {
      id: 't.id',
      initiative_id: 't.card_id',
      pred_kind: kindOf('pred'),
      pred_id: idOf('pred'),
      succ_kind: kindOf('succ'),
      succ_id: idOf('succ'),
      kind: 't.kind',
      created_at: 'utc(t.created_at)',
    },
  }),
};

/**
 * Adds a dependency between tasks and items of one initiative. Others that do so for the same initiative wait, so that
 * no two of them close a circle together.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `duplicate_dependency`, `limit_reached`.
 */
export async function createDependency(
  ctx: Ctx,
  initiativeId: string,
  input: DependencyInput,
): Promise<JsonText> {
  requirePpmWriter(ctx);
  return await command(ctx, async (work) => {
    const initiative = await holdInitiative(work, ctx, initiativeId, true);
    const plan = await loadPlan(work.sql, initiative.id);
    const pred = input.pred_id.toLowerCase();
    const succ = input.succ_id.toLowerCase();
    const faults: FieldError[] = [];
    const end = (field: string, kind: PlanKind, id: string): number => {
      const place = plan.ids.indexOf(id);
      if (place >= 0 && partKind(plan, place) === kind) return place;
      const what = kind === 'task' ? 'task' : 'WBS item';
      faults.push({ field, code: 'unknown_value', message: `is no ${what} of this initiative` });
      return -1;
    };
    const from = end('pred_id', input.pred_kind, pred);
    const to = end('succ_id', input.succ_kind, succ);
    if (pred === succ) faults.push({ field: 'succ_id', code: 'same', message: 'cannot follow itself' });
    refuse(faults);
    if (plan.preds.some((other, at) => other === from && plan.succs[at] === to)) {
      throw new EstateError('duplicate_dependency', 'This dependency exists already.');
    }
    const preds = Int32Array.from([...plan.preds, from]);
    const succs = Int32Array.from([...plan.succs, to]);
    if (hasCircle({ ...plan, preds, succs })) {
      throw invalidField('succ_id', 'dependency_cycle', 'would make something wait for itself');
    }
    return await insertPpm(work, ctx, dependencies, initiative, {
      [`pred_${input.pred_kind}_id`]: pred,
      [`succ_${input.succ_kind}_id`]: succ,
      kind: input.kind,
    });
  });
}

/** Takes away the dependencies of tasks and items that are about to go. */
export async function releaseDependencies(
  { work, ctx, initiative }: PpmWrite,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await work.sql.raw(
    `with gone as (
       delete from ppm_dependencies t where t.card_id = ?::uuid
         and (${idOf('pred')} = any(?::uuid[]) or ${idOf('succ')} = any(?::uuid[]))
       returning t.id, to_jsonb(t) as row
     ) select row from gone order by id`,
    [initiative.id, ids, ids] as never,
  );
  for (const { row } of rows as { row: PpmRow }[]) await told(work, ctx, dependencies, initiative, row, null);
}
