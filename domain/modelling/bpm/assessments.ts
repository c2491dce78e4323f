import { fragment } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow, lockItem, removeRow } from '../../kernel/resources/items.ts';
import { lockProcess, requireSeenProcess } from './bpm.access.ts';
import { assessmentEvent } from './bpm.events.ts';
import { type AssessmentRow, ProcessAssessment } from './bpm.model.ts';

/** What is scored, each from 1 to 5. */
const scores = ['overall_score', 'efficiency', 'effectiveness', 'compliance', 'automation'] as const;

export type AssessmentInput = Partial<
  Pick<AssessmentRow, (typeof scores)[number] | 'assessment_date' | 'notes'> & {
    action_items: AssessmentRow['action_items'] | null;
  }
>;

/** Commands also require `bpm.assessments`, which no stakeholder role gives. */
const RIGHT = { app: 'bpm.assessments', card: 'card.bpm_edit' } as const;

/** Limits a score to the scale of 1 to 5. */
export const clamp = (score: number): number => Math.min(5, Math.max(1, score));

/** The assessments of a process, the latest first. */
export const processAssessmentList = defineList({
  name: 'process-assessments',
  permission: RIGHT.app,
  from: 'process_assessments a left join users u on u.id = a.assessor_id',
  id: 'a.id',
  sorts: columnSorts('a', ProcessAssessment, 'assessment_date', 'created_at', 'overall_score'),
  defaultSort: 'assessment_date',
  defaultDir: 'desc',
  search: `fold(coalesce(a.notes, ''))`,
  members: { ...columnMembers('a', ProcessAssessment.shown), assessor_name: 'u.display_name' },
  async where(ctx, _params, processId) {
    const process = await requireSeenProcess(ctx.db, ctx, processId);
    return [fragment`a.process_id = ${process.id}::uuid`];
  },
});

/** The input as it is stored: scores within the scale, absent members left out. */
function stored({ action_items, ...input }: AssessmentInput): Partial<AssessmentRow> {
  const values: Partial<AssessmentRow> = { ...input };
  for (const score of scores) if (input[score] !== undefined) values[score] = clamp(input[score]);
  if (action_items !== undefined) values.action_items = action_items ?? [];
  return values;
}

/** Assesses a process. @throws EstateError `forbidden`, `not_found`, `wrong_state`. */
export async function createAssessment(
  ctx: Ctx,
  processId: string,
  input: AssessmentInput,
): Promise<JsonText> {
  requirePermission(ctx.caller, RIGHT.app);
  return await command(ctx, async (work) => {
    const process = await lockProcess(work, ctx, processId, RIGHT);
    const values = { process_id: process.id, assessor_id: ctx.caller.userId, ...stored(input) };
    const { id } = await createRow(work, ProcessAssessment, values, assessmentEvent);
    return await assessmentText(work, id);
  });
}

const assessmentText = ({ sql }: Work, id: string): Promise<JsonText> =>
  readItem(sql, processAssessmentList, 'assessment', id);

type Ids = { process: string; assessment: string };

async function lockAssessment(work: Work, ctx: Ctx, ids: Ids): Promise<AssessmentRow> {
  const process = await lockProcess(work, ctx, ids.process, RIGHT);
  const key = { id: ids.assessment, process_id: process.id };
  return await lockItem(work, ctx, ProcessAssessment, key, 'assessment', (id) => assessmentText(work, id));
}

/** Changes the given members of an assessment. @throws EstateError as for a new one, and `precondition_failed`. */
export async function changeAssessment(ctx: Ctx, ids: Ids, input: AssessmentInput): Promise<JsonText> {
  requirePermission(ctx.caller, RIGHT.app);
  return await command(ctx, async (work) => {
    const before = await lockAssessment(work, ctx, ids);
    await changeRow(work, ProcessAssessment, before, stored(input), assessmentEvent);
    return await assessmentText(work, before.id);
  });
}

/** Deletes an assessment. @throws EstateError as for a change. */
export async function deleteAssessment(ctx: Ctx, ids: Ids): Promise<void> {
  requirePermission(ctx.caller, RIGHT.app);
  await command(ctx, async (work) => {
    await removeRow(work, ProcessAssessment, await lockAssessment(work, ctx, ids), assessmentEvent);
  });
}
