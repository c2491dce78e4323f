import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { assessmentText } from './assessments.list.ts';
import { Assessment, type AssessmentRow, assessmentEvent } from './assessments.model.ts';

/** The maximum size of a session, in characters of JSON. */
export const SESSION_LENGTH = 200_000;

export interface AssessmentInput {
  title?: string;
  requirement?: string;
  sessionData?: Record<string, unknown>;
}

/** Saves a session. @throws EstateError `forbidden`, `validation_failed`. */
export async function createAssessment(ctx: Ctx, input: AssessmentInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  return await command(ctx, async (work) => {
    const row = await insertRow(work.sql, Assessment, {
      ...checked(input),
      created_by: ctx.caller.userId,
    });
    work.emit(assessmentEvent(null, row));
    return await assessmentText(work.sql, ctx, row.id);
  });
}

/**
 * Changes a session that is not committed.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`, `validation_failed`.
 */
export async function patchAssessment(ctx: Ctx, id: string, input: AssessmentInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  return await command(ctx, async (work) => {
    const before = await lockAssessment(work, ctx, id);
    requireSaved(before);
    const changed = differingMembers(before, checked(input));
    if (Object.keys(changed).length > 0) {
      const after = await updateRow(work.sql, Assessment, { id: before.id }, changed);
      work.emit(assessmentEvent(before, after));
    }
    return await assessmentText(work.sql, ctx, id);
  });
}

/**
 * Deletes a session; the cards of a committed one remain. @throws EstateError `forbidden`, `not_found`,
 * `precondition_failed`.
 */
export async function deleteAssessment(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  await command(ctx, async (work) => {
    const row = await lockAssessment(work, ctx, id);
    await work.sql('assessments').where({ id: row.id }).delete();
    work.emit(assessmentEvent(row, null));
  });
}

/** Reads and locks the row of a session. @throws EstateError `not_found`, `precondition_failed`. */
export async function lockAssessment(work: Work, ctx: Ctx, id: string): Promise<AssessmentRow> {
  const row = await lockRow(work.sql, Assessment, { id: id.toLowerCase() });
  if (!row) throw notFound('assessment', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await assessmentText(work.sql, ctx, id));
  return row;
}

/** @throws EstateError `wrong_state` for a committed session. */
export function requireSaved({ status, initiative_id }: AssessmentRow): void {
  if (status === 'saved') return;
  throw new EstateError('wrong_state', 'The session is committed and cannot be changed.', {
    extra: { initiative_id },
  });
}

/** The input as it is stored. */
function checked({ title, requirement, sessionData }: AssessmentInput): Partial<AssessmentRow> {
  const values: Partial<AssessmentRow> = {};
  if (title !== undefined) values.title = trimmed('title', title);
  if (requirement !== undefined) values.requirement = trimmed('requirement', requirement);
  if (sessionData !== undefined) {
    if (JSON.stringify(sessionData).length > SESSION_LENGTH) {
      const message = `must not be longer than ${SESSION_LENGTH} characters of JSON`;
      throw invalidField('sessionData', 'too_long', message);
    }
    values.session_data = sessionData;
  }
  return values;
}

function trimmed(field: string, text: string): string {
  const value = text.trim();
  if (value === '') throw invalidField(field, 'required', 'must not be blank');
  return value;
}
