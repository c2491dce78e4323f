import Type from 'typebox';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField, requireText } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow, lockItem, removeRow } from '../../kernel/resources/items.ts';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, NullableText, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** A session about a target architecture. */
export class Assessment extends rowModel('assessments', {
  id: Uuid,
  title: Type.String({ minLength: 1, maxLength: 200 }),
  requirement: Type.String({ minLength: 1, maxLength: 20_000 }),
  status: Choice(['saved', 'committed'], '`committed`: an initiative was created from it'),
  session_data: OpenObject,
  initiative_id: Nullable(Uuid),
  decision_draft: NullableText('Markdown; set when it was committed'),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
type AssessmentRow = RowOf<typeof Assessment>;

/** The event of a written assessment. The session may contain costs, so events only show it to users who may see costs. */
export function assessmentEvent(before: AssessmentRow | null, after: AssessmentRow | null): EventDraft {
  const { id, title } = (after ?? before)!;
  return { ...rowEvent('assessment', before, after, { id, title }), cost_keys: ['session_data'] };
}

/** The member of sessions that contains costs, besides the cost attributes of cards. */
const MONEY = 'annual_cost';

/** The session without costs, unless the caller has `costs.view`. */
function visibleSession(ctx: Ctx): Fragment {
  if (may(ctx.caller, 'costs.view')) return fragment`a.session_data`;
  const names = new Set([
    MONEY,
    ...[...ctx.metamodel.cardTypes.values()].flatMap(({ costKeys }) => costKeys),
  ]);
  return fragment`cut_members(a.session_data, ${[...names]}::text[])`;
}

/** The sessions, without their data. */
export const assessmentList = defineList({
  name: 'assessments',
  from: 'assessments a left join users u on u.id = a.created_by',
  id: 'a.id',
  sorts: {
    title: { sql: 'lower(a.title)', type: 'text', filled: true },
    created_at: { sql: 'a.created_at', type: 'timestamptz', immutable: true },
    updated_at: { sql: 'a.updated_at', type: 'timestamptz', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: `fold(a.title || ' ' || a.requirement)`,
  filters: { status: [Assessment.columns.status, 'a.status = ?'] },
  members: {
    ...columnMembers('a', Assessment),
    initiative_name: (ctx) => fragment`(select c.name from cards c
      where c.id = a.initiative_id and (${embed(visibleCards(ctx))}))`,
    created_by_name: 'u.display_name',
    session_data: 'null::jsonb',
    decision_draft: 'null::text',
  },
});

/** One session without values that the caller may not see. @throws EstateError `not_found`. */
export async function assessmentText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  const { members, ...list } = listFor(ctx, assessmentList);
  const whole = { ...members, session_data: visibleSession(ctx), decision_draft: 'a.decision_draft' };
  return await readItem(sql, { ...list, members: whole }, 'assessment', id);
}

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
    const values = { ...checked(input), created_by: ctx.caller.userId };
    const { id } = await createRow(work, Assessment, values, assessmentEvent);
    return await assessmentText(work.sql, ctx, id);
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
    await changeRow(work, Assessment, before, checked(input), assessmentEvent);
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
    await removeRow(work, Assessment, await lockAssessment(work, ctx, id), assessmentEvent);
  });
}

/** Reads and locks the row of a session. @throws EstateError `not_found`, `precondition_failed`. */
export const lockAssessment = (work: Work, ctx: Ctx, id: string): Promise<AssessmentRow> =>
  lockItem(work, ctx, Assessment, { id }, 'assessment', (own) => assessmentText(work.sql, ctx, own));

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
  if (title !== undefined) values.title = requireText(title, 'title');
  if (requirement !== undefined) values.requirement = requireText(requirement, 'requirement');
  if (sessionData !== undefined) {
    if (JSON.stringify(sessionData).length > SESSION_LENGTH) {
      const message = `must not be longer than ${SESSION_LENGTH} characters of JSON`;
      throw invalidField('sessionData', 'too_long', message);
    }
    values.session_data = sessionData;
  }
  return values;
}
