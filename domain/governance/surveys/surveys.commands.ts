import { embed, query } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { bufferEvents } from '../../kernel/events/events.buffer.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { changeRow, createRow, lockItem, removeRow } from '../../kernel/resources/items.ts';
import { updateRow } from '../../kernel/resources/rows.ts';
import { surveyText } from './surveys.list.ts';
import {
  type ResponseRow,
  Survey,
  type SurveyAction,
  type SurveyField,
  type SurveyRow,
  type TargetFilters,
} from './surveys.model.ts';
import { asksRelations } from './surveys.relations.ts';
import { describeField, describeFields } from './surveys.rules.ts';
import { checkTargets, targetQuery } from './surveys.targets.ts';

/** The event of a written survey; its type follows from the rows unless given. */
export function surveyEvent(
  before: SurveyRow | null,
  after: SurveyRow | null,
  event_type?: 'survey.sent' | 'survey.closed',
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, name } = (after ?? before)!;
  return { ...rowEvent('survey', before, after, { id, name, ...more }), ...(event_type && { event_type }) };
}

/** The event of one written response, in the history of its card. */
export function responseEvent(
  card: { id: string; type: string },
  before: ResponseRow | null,
  after: ResponseRow | null,
): EventDraft {
  const { id, survey_id, user_id } = (after ?? before)!;
  const hasCosts = [before, after].some((row) => row !== null && row.cost_keys.length > 0);
  return {
    ...rowEvent('survey_response', before, after, { id, survey_id, user_id }),
    card_id: card.id,
    card_type: card.type,
    cost_keys: hasCosts ? ['responses'] : null,
  };
}

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
    const row = await createRow(work, Survey, { ...values, created_by: ctx.caller.userId }, surveyEvent);
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
    await changeRow(work, Survey, before, await checked(work, ctx, input, before), surveyEvent);
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
    await removeRow(work, Survey, before, surveyEvent);
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
    const values: Partial<SurveyRow> = { status: 'closed', closed_at: new Date().toISOString() };
    await changeRow(work, Survey, before, values, (old, now) => surveyEvent(old, now, 'survey.closed'));
    return await surveyText(work.sql, before.id);
  });
}

/**
 * Reminds the users who have not answered, each at most once in 24 hours, whatever surveys they are reminded of.
 * @returns the number of users who have not answered, and of those who are reminded now.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function remindOfSurvey(
  ctx: Ctx,
  id: string,
): Promise<{ users_pending: number; users_reminded: number }> {
  requirePermission(ctx.caller, 'surveys.manage');
  return await command(ctx, async (work) => {
    const survey = await lockSurvey(work, ctx, id, 'active');
    const [found] = await query(work.sql).rows<{ pending: number; recipients: string[] }>`with pending as (
         select distinct r.user_id from survey_responses r join cards c on c.id = r.card_id
         join users u on u.id = r.user_id
         where r.survey_id = ${survey.id}::uuid and r.status = 'pending' and c.status = 'ACTIVE' and u.is_active
       ), reminded as (
         insert into survey_reminders as m (user_id, reminded_at) select user_id, now() from pending order by user_id
         on conflict (user_id) do update set reminded_at = excluded.reminded_at
         where m.reminded_at <= excluded.reminded_at - interval '24 hours' returning user_id
       )
       select (select count(*)::int from pending) as pending,
         (select coalesce(json_agg(user_id order by user_id), '[]') from reminded) as recipients`;
    const { pending, recipients } = found!;
    if (recipients.length > 0) {
      const { name } = survey;
      work.emit({ event_type: 'survey.reminded', data: { id: survey.id, name, recipients } });
    }
    return { users_pending: pending, users_reminded: recipients.length };
  });
}

/**
 * Reads and locks a survey in the required state. @throws EstateError `not_found`, `precondition_failed`,
 * `wrong_state`.
 */
async function lockSurvey(work: Work, ctx: Ctx, id: string, status: 'draft' | 'active'): Promise<SurveyRow> {
  const row = await lockItem(work, ctx, Survey, { id }, 'survey', (of) => surveyText(work.sql, of));
  if (row.status !== status) {
    throw new EstateError('wrong_state', `The survey is ${row.status}, not ${status}.`, {
      extra: { survey_status: row.status },
    });
  }
  return row;
}

/** The input as it is stored, checked together with the unchanged columns of the row. */
async function checked(
  work: Work,
  ctx: Ctx,
  input: SurveyInput,
  before: Partial<SurveyRow>,
): Promise<Partial<SurveyRow>> {
  if (input.name?.trim() === '') throw invalidField('name', 'required', 'must not be blank');
  const { name, description, message, ...given } = { ...before, ...input };
  const key = given.target_type_key!;
  const type = work.metamodel.cardTypes.get(key);
  if (!type || type.is_hidden) {
    throw invalidField('target_type_key', 'unknown_type', `there is no card type "${key}"`);
  }
  const errors: FieldError[] = [];
  const asked = given.fields ?? [];
  const target_roles = given.target_roles ?? [];
  const target_filters = given.target_filters ?? {};
  const moved = input.target_type_key !== undefined;
  if (asked.some(({ key }) => asksRelations(key))) requirePermission(ctx.caller, 'relations.view');
  const fields = describeFields(
    work.metamodel,
    type,
    asked,
    moved || input.fields !== undefined ? errors : [],
  );
  if (moved || input.target_roles !== undefined) {
    for (const [n, role] of target_roles.entries()) {
      if (type.stakeholderRoles.some((known) => known.key === role)) continue;
      const message = `is not a stakeholder role of ${key}`;
      errors.push({ field: `target_roles.${n}`, code: 'unknown_role', message });
    }
  }
  if (moved || input.target_filters !== undefined) {
    const seen = { ...ctx, metamodel: work.metamodel };
    await checkTargets(work.sql, seen, { target_type_key: key, target_filters, target_roles }, errors);
  }
  if (errors.length > 0) throw invalidFields(errors);
  return {
    name: name!.trim(),
    description: description!,
    message: message!,
    target_type_key: key,
    target_filters,
    target_roles: [...new Set(target_roles)],
    // a patch of other members leaves fields as they were saved, even if the card type has changed
    fields: moved || input.fields !== undefined ? fields : (asked as SurveyRow['fields']),
  };
}

/** The greatest number of responses that one survey requests. */
const MAX_TARGETS = 50_000;
/** Rows that one statement writes; with more rows their events go to the database in between. */
const CHUNK = 2_000;

interface Target {
  card_id: string;
  user_id: string;
}

/**
 * Sends a draft: requests a response from each user who has one of the roles on a card that the filters select. The fields
 * are saved as the card type declares them now.
 * @returns the survey, with the number of requested responses.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`, `survey_incomplete`,
 * `survey_too_large`; `validation_failed` if the filters are not valid in the current metamodel.
 */
export async function sendSurvey(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'surveys.manage');
  requirePermission(ctx.caller, 'stakeholders.view');
  return await command(ctx, async (work) => {
    const before = await lockSurvey(work, ctx, id, 'draft');
    const fields = fieldsNow(work, before);
    const targets = await findTargets(work, ctx, before);
    if (targets.length === 0) throw incomplete('targets', 'No user has one of the roles on such a card.');
    const sent_at = new Date().toISOString();
    const after = await updateRow(work.sql, Survey, { id: before.id }, { status: 'active', sent_at, fields });
    await insertResponses(work, ctx, after, targets);
    const recipients = [...new Set(targets.map(({ user_id }) => user_id))];
    work.emit(surveyEvent(before, after, 'survey.sent', { recipients, targets: targets.length }));
    const text = await surveyText(work.sql, after.id);
    return `${text.slice(0, -1)},"targets_created":${targets.length}}`;
  });
}

const incomplete = (missing: string, message: string): EstateError =>
  new EstateError('survey_incomplete', message, { extra: { missing } });

/** The fields as they are declared now. @throws EstateError `survey_incomplete`. */
function fieldsNow({ metamodel }: Work, survey: SurveyRow): SurveyField[] {
  const type = metamodel.cardTypes.get(survey.target_type_key);
  if (!type || type.is_hidden) throw incomplete('target_type_key', 'The card type is no longer there.');
  if (survey.fields.length === 0) throw incomplete('fields', 'The survey asks for no field.');
  if (survey.target_roles.length === 0) throw incomplete('target_roles', 'The survey names no role.');
  return survey.fields.map((field) => {
    const described = describeField(metamodel, type, field);
    if (!described) throw incomplete('fields', `The field ${field.key} can no longer be asked for.`);
    return described;
  });
}

/** The cards and users of the survey, with the cards locked against deletion. */
async function findTargets(work: Work, ctx: Ctx, survey: SurveyRow): Promise<Target[]> {
  const asked = await targetQuery({ ...ctx, metamodel: work.metamodel }, survey);
  const found = await query(work.sql).rows<Target>`select card_id, user_id from (${embed(asked)}) targets
    order by card_id, user_id limit ${embed(MAX_TARGETS + 1)}`;
  if (found.length > MAX_TARGETS) {
    throw new EstateError(
      'survey_too_large',
      `The survey would request more than ${MAX_TARGETS} responses; send several with narrower filters.`,
    );
  }
  const cards = [...new Set(found.map(({ card_id }) => card_id))];
  const locked = await query(work.sql).rows<{ id: string }>`select id from cards
    where id = any(${cards}::uuid[]) order by id for key share`;
  const existing = new Set(locked.map(({ id }) => id));
  return found.filter(({ card_id }) => existing.has(card_id));
}

async function insertResponses(
  work: Work,
  ctx: Ctx,
  { id, target_type_key: type }: SurveyRow,
  targets: Target[],
): Promise<void> {
  const held = targets.length > CHUNK ? await bufferEvents(work, ctx) : undefined;
  const { sql, emit } = held?.work ?? work;
  for (let from = 0; from < targets.length; from += CHUNK) {
    const chunk = targets.slice(from, from + CHUNK);
    const rows = await query(sql).column<ResponseRow>`with made as (
         insert into survey_responses (survey_id, card_id, user_id)
         select ${id}::uuid, t.card_id, t.user_id
         from unnest(${chunk.map(({ card_id }) => card_id)}::uuid[],
         ${chunk.map(({ user_id }) => user_id)}::uuid[]) as t (card_id, user_id)
         returning id, to_jsonb(survey_responses) as row
       ) select row from made order by id`;
    for (const row of rows) emit(responseEvent({ id: row.card_id, type }, null, row));
    await held?.flush();
  }
  await held?.record();
}
