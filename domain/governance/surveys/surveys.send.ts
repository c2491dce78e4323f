import { queryRows } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { bufferEvents } from '../../kernel/events/events.buffer.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockSurvey, store } from './surveys.commands.ts';
import { responseEvent, surveyEvent } from './surveys.events.ts';
import { surveyText } from './surveys.list.ts';
import type { ResponseRow, SurveyRow } from './surveys.model.ts';
import { describeField } from './surveys.rules.ts';
import { targetQuery } from './surveys.targets.ts';
import type { SurveyField } from './surveys.types.ts';

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
 * `survey_too_large`; `validation_failed` where the filters no longer fit the metamodel.
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
    const after = await store(work, before, { status: 'active', sent_at, fields });
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
    const described = describeField(type, field);
    if (!described) throw incomplete('fields', `The field ${field.key} can no longer be asked for.`);
    return described;
  });
}

/** The cards and users of the survey, with the cards locked against deletion. */
async function findTargets(work: Work, ctx: Ctx, survey: SurveyRow): Promise<Target[]> {
  const query = await targetQuery({ ...ctx, metamodel: work.metamodel }, survey);
  const found = await queryRows<Target>(
    work.sql,
    `select card_id, user_id from (${query.sql}) targets order by card_id, user_id limit ${MAX_TARGETS + 1}`,
    query.bindings,
  );
  if (found.length > MAX_TARGETS) {
    throw new EstateError(
      'survey_too_large',
      `The survey would request more than ${MAX_TARGETS} responses; send several with narrower filters.`,
    );
  }
  const cards = [...new Set(found.map(({ card_id }) => card_id))];
  const locked = await queryRows<{ id: string }>(
    work.sql,
    'select id from cards where id = any(?::uuid[]) order by id for key share',
    [cards],
  );
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
    const rows = await queryRows<{ row: ResponseRow }>(
      sql,
      `with made as (
         insert into survey_responses (survey_id, card_id, user_id)
         select ?::uuid, t.card_id, t.user_id from unnest(?::uuid[], ?::uuid[]) as t (card_id, user_id)
         returning id, to_jsonb(survey_responses) as row
       ) select row from made order by id`,
      [id, chunk.map(({ card_id }) => card_id), chunk.map(({ user_id }) => user_id)],
    );
    for (const { row } of rows) {
      emit(responseEvent({ id: row.card_id, type }, null, row));
    }
    await held?.flush();
  }
  await held?.record();
}
