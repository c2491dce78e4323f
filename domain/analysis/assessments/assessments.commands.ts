import Type from 'typebox';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Fragment, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow } from '../../kernel/resources/items.ts';
import { lockRow, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, type StaticOf, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** A session about a target architecture. */
export class Assessment extends rowModel('assessments', {
  id: Uuid,
  title: Type.String({ minLength: 1, maxLength: 200 }),
  requirement: Type.String({ minLength: 1, maxLength: 20_000 }),
  status: Choice(['saved', 'committed'], '`committed`: an initiative was created from it'),
  session_data: OpenObject,
  initiative_id: Nullable(Uuid),
  decision_draft: Nullable(Type.String({ description: 'Markdown; set when it was committed' })),
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

export const assessmentSorts: Record<string, SortField> = {
  title: { sql: 'lower(a.title)', type: 'text', filled: true },
  created_at: { sql: 'a.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 'a.updated_at', type: 'timestamptz', filled: true },
};

export const assessmentFilters = { status: Type.Optional(Assessment.columns.status) };

function assessmentList(ctx: Ctx, whole: boolean): ListSpec {
  const visible = visibleCards(ctx);
  return {
    name: 'assessments',
    from: 'assessments a left join users u on u.id = a.created_by',
    id: 'a.id',
    sorts: assessmentSorts,
    defaultSort: 'created_at',
    defaultDir: 'desc',
    search: `fold(a.title || ' ' || a.requirement)`,
    filters: { status: 'a.status = ?' },
    members: {
      ...columnMembers('a', Assessment),
      initiative_name: fragment`(select c.name from cards c
        where c.id = a.initiative_id and (${embed(visible)}))`,
      created_by_name: 'u.display_name',
      session_data: whole ? visibleSession(ctx) : 'null::jsonb',
      decision_draft: whole ? 'a.decision_draft' : 'null::text',
    },
  };
}

/** The sessions, without their data. */
export async function listAssessments(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof assessmentFilters>,
): Promise<JsonText> {
  return await runList(ctx, assessmentList(ctx, false), [], params);
}

/** One session without values that the caller may not see. @throws EstateError `not_found`. */
export const assessmentText = (sql: Sql, ctx: Ctx, id: string): Promise<JsonText> =>
  readItem(sql, assessmentList(ctx, true), 'assessment', id);

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
