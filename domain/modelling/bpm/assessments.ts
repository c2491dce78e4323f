import { notFound } from '../../../platform/errors.ts';
import { itemText, type WrittenItem } from '../../collaboration/items.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing, type StoredRow } from '../../kernel/events/row-changes.ts';
import { insertRow, updateRow } from '../../kernel/events/stored-rows.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockProcess, requireSeenProcess } from './bpm.access.ts';
import { assessmentEvent } from './bpm.events.ts';

/** What is scored, each from 1 to 5. */
const scores = ['overall_score', 'efficiency', 'effectiveness', 'compliance', 'automation'] as const;

export interface AssessmentInput extends Partial<Record<(typeof scores)[number], number>> {
  /** `YYYY-MM-DD` */
  assessment_date?: string;
  notes?: string | null;
  action_items?: Record<string, unknown>[] | null;
}

/** Assessing is a right of its own, which no role on a process gives. */
const RIGHT = { app: 'bpm.assessments', card: 'card.bpm_edit' } as const;

/** A score within the scale: what lies beyond becomes its end. */
export const clamp = (score: number): number => Math.min(5, Math.max(1, score));

/** Assessments over the alias `a`. */
const assessmentList: ListSpec = {
  name: 'process-assessments',
  from: 'process_assessments a left join users u on u.id = a.assessor_id',
  id: 'a.id',
  idType: 'uuid',
  sorts: {
    assessment_date: { sql: 'a.assessment_date::timestamptz', type: 'timestamptz', filled: true },
    created_at: { sql: 'a.created_at', type: 'timestamptz', immutable: true },
    overall_score: { sql: 'a.overall_score', type: 'bigint', filled: true },
  },
  defaultSort: 'assessment_date',
  defaultDir: 'desc',
  search: `fold(coalesce(a.notes, ''))`,
  members: {
    id: 'a.id',
    process_id: 'a.process_id',
    assessor_id: 'a.assessor_id',
    assessor_name: 'u.display_name',
    assessment_date: 'a.assessment_date',
    ...Object.fromEntries(scores.map((score) => [score, `a.${score}`])),
    notes: 'a.notes',
    action_items: 'a.action_items',
    created_at: 'utc(a.created_at)',
  },
};

/** The assessments of a process, the latest first. @throws EstateError `forbidden`, `not_found`. */
export async function listAssessments(ctx: Ctx, processId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, RIGHT.app);
  const process = await requireSeenProcess(ctx.db, ctx, processId);
  const where: Condition[] = [{ sql: 'a.process_id = ?::uuid', bindings: [process.id] }];
  return await runList(ctx.db, assessmentList, where, params, { owner: ctx.caller.userId });
}

/** The input as it is stored: scores within the scale, and members that were not sent left out. */
function stored({ action_items, ...input }: AssessmentInput): StoredRow {
  const values: StoredRow = { ...input };
  for (const score of scores) if (input[score] !== undefined) values[score] = clamp(input[score]);
  if (action_items !== undefined) values.action_items = action_items ?? [];
  return values;
}

/** Assesses a process. @throws EstateError `forbidden`, `not_found`, `wrong_state`. */
export async function createAssessment(
  ctx: Ctx,
  processId: string,
  input: AssessmentInput,
): Promise<WrittenItem> {
  requirePermission(ctx.caller, RIGHT.app);
  return await command(ctx, async (work) => {
    const process = await lockProcess(work, ctx, processId, RIGHT);
    const row = await insertRow(work.sql, 'process_assessments', {
      process_id: process.id,
      assessor_id: ctx.caller.userId,
      ...stored(input),
    });
    work.emit(assessmentEvent(null, row));
    const id = String(row.id);
    return { id, text: (await itemText(work.sql, assessmentList, id))! };
  });
}

type Ids = { process: string; assessment: string };

async function lockAssessment(work: Work, ctx: Ctx, ids: Ids): Promise<StoredRow & { id: string }> {
  const process = await lockProcess(work, ctx, ids.process, RIGHT);
  const { rows } = await work.sql.raw(
    'select to_jsonb(a) as row from process_assessments a where a.id = ?::uuid and a.process_id = ?::uuid for update',
    [ids.assessment, process.id],
  );
  if (!rows[0]) throw notFound('assessment', ids.assessment);
  if (ctx.ifMatch) checkIfMatch(ctx, (await itemText(work.sql, assessmentList, rows[0].row.id))!);
  return rows[0].row;
}

/** Changes what is sent of an assessment. @throws EstateError as for a new one, and `precondition_failed`. */
export async function changeAssessment(ctx: Ctx, ids: Ids, input: AssessmentInput): Promise<JsonText> {
  requirePermission(ctx.caller, RIGHT.app);
  return await command(ctx, async (work) => {
    const before = await lockAssessment(work, ctx, ids);
    const changed = differing(before, stored(input));
    if (Object.keys(changed).length > 0) {
      const key = { column: 'id', value: before.id };
      work.emit(assessmentEvent(before, await updateRow(work.sql, 'process_assessments', key, changed)));
    }
    return (await itemText(work.sql, assessmentList, before.id))!;
  });
}

/** Deletes an assessment. @throws EstateError as for a change. */
export async function deleteAssessment(ctx: Ctx, ids: Ids): Promise<void> {
  requirePermission(ctx.caller, RIGHT.app);
  await command(ctx, async (work) => {
    const row = await lockAssessment(work, ctx, ids);
    await work.sql('process_assessments').where({ id: row.id }).delete();
    work.emit(assessmentEvent(row, null));
  });
}
