import {
  EstateError,
  type FieldError,
  invalidField,
  invalidFields,
  notFound,
} from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { surveyEvent } from './surveys.events.ts';
import { surveyText } from './surveys.list.ts';
import { Survey, type SurveyRow } from './surveys.model.ts';
import { describeFields } from './surveys.rules.ts';
import { checkTargets } from './surveys.targets.ts';
import type { SurveyAction, TargetFilters } from './surveys.types.ts';

export interface SurveyInput {
  name?: string;
  description?: string | null;
  message?: string;
  target_type_key?: string;
  target_filters?: TargetFilters | null;
  target_roles?: string[] | null;
  /** Other members of a field are taken from the card type. */
  fields?: { key: string; action?: SurveyAction }[] | null;
}

/** Creates a survey as a draft. @throws EstateError `forbidden`, `validation_failed`. */
export async function createSurvey(ctx: Ctx, input: SurveyInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'surveys.manage');
  return await command(ctx, async (work) => {
    const values = await checked(work, ctx, input, { description: '', message: '' });
    const row = await insertRow(work.sql, Survey, { ...values, created_by: ctx.caller.userId });
    work.emit(surveyEvent(null, row));
    return await surveyText(work.sql, row.id);
  });
}

/**
 * Changes a draft.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`, `validation_failed`.
 */
export async function patchSurvey(ctx: Ctx, id: string, input: SurveyInput): Promise<JsonText> {
  requirePermission(ctx.caller, 'surveys.manage');
  return await command(ctx, async (work) => {
    const before = await lockSurvey(work, ctx, id, 'draft');
    const changed = differing(before, await checked(work, ctx, input, before));
    if (Object.keys(changed).length > 0) work.emit(surveyEvent(before, await store(work, before, changed)));
    return await surveyText(work.sql, before.id);
  });
}

/** Deletes a draft. @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`. */
export async function deleteSurvey(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'surveys.manage');
  await command(ctx, async (work) => {
    const before = await lockSurvey(work, ctx, id, 'draft');
    // possible only after a forced rollback
    if (await work.sql('survey_responses').where({ survey_id: before.id }).first('id')) {
      throw new EstateError('wrong_state', 'The survey has been answered.');
    }
    await deleteRows(work.sql, Survey, (query) => query.where({ id: before.id }));
    work.emit(surveyEvent(before, null));
  });
}

/**
 * Closes a survey: it accepts no more answers, but answers can still be applied.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function closeSurvey(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'surveys.manage');
  return await command(ctx, async (work) => {
    const before = await lockSurvey(work, ctx, id, 'active');
    const closed_at = new Date().toISOString();
    work.emit(
      surveyEvent(before, await store(work, before, { status: 'closed', closed_at }), 'survey.closed'),
    );
    return await surveyText(work.sql, before.id);
  });
}

/** A survey in the required state, locked. @throws EstateError `not_found`, `precondition_failed`, `wrong_state`. */
export async function lockSurvey(
  work: Work,
  ctx: Ctx,
  id: string,
  status: 'draft' | 'active',
): Promise<SurveyRow> {
  const row = await lockRow(work.sql, Survey, { id: id.toLowerCase() });
  if (!row) throw notFound('survey', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await surveyText(work.sql, row.id));
  if (row.status !== status) {
    throw new EstateError('wrong_state', `The survey is ${row.status}, not ${status}.`, {
      extra: { survey_status: row.status },
    });
  }
  return row;
}

/** Writes columns of a survey. @returns the whole row. */
export async function store(work: Work, { id }: SurveyRow, values: Partial<SurveyRow>): Promise<SurveyRow> {
  return await updateRow(work.sql, Survey, { id }, values);
}

/** The input as it is stored, checked together with the unchanged columns of the row. */
async function checked(
  work: Work,
  ctx: Ctx,
  input: SurveyInput,
  before: Partial<SurveyRow>,
): Promise<Partial<SurveyRow>> {
  if (input.name?.trim() === '') throw invalidField('name', 'required', 'must not be blank');
  const key = input.target_type_key ?? before.target_type_key!;
  const type = work.metamodel.cardTypes.get(key);
  if (!type || type.is_hidden) {
    throw invalidField('target_type_key', 'unknown_type', `there is no card type "${key}"`);
  }
  const faults: FieldError[] = [];
  const asked = input.fields === undefined ? (before.fields ?? []) : (input.fields ?? []);
  const target_roles =
    input.target_roles === undefined ? (before.target_roles ?? []) : (input.target_roles ?? []);
  const target_filters =
    input.target_filters === undefined ? (before.target_filters ?? {}) : (input.target_filters ?? {});
  const moved = input.target_type_key !== undefined;
  const fields = describeFields(type, asked, moved || input.fields !== undefined ? faults : []);
  if (moved || input.target_roles !== undefined) {
    for (const [n, role] of target_roles.entries()) {
      if (type.stakeholderRoles.some((known) => known.key === role)) continue;
      const message = `is not a stakeholder role of ${key}`;
      faults.push({ field: `target_roles.${n}`, code: 'unknown_role', message });
    }
  }
  if (moved || input.target_filters !== undefined) {
    const seen = { ...ctx, metamodel: work.metamodel };
    await checkTargets(work.sql, seen, { target_type_key: key, target_filters, target_roles }, faults);
  }
  if (faults.length > 0) throw invalidFields(faults);
  return {
    name: input.name?.trim() ?? before.name!,
    description: input.description === undefined ? before.description! : input.description,
    message: input.message ?? before.message!,
    target_type_key: key,
    target_filters,
    target_roles: [...new Set(target_roles)],
    // a patch of other members leaves fields as they were saved, even if the card type has changed
    fields: moved || input.fields !== undefined ? fields : (asked as SurveyRow['fields']),
  };
}
