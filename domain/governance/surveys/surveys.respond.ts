import { queryRows, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidFields, notFound } from '../../../platform/errors.ts';
import { refuseHiddenCosts } from '../../inventory/cards/cards.costs.ts';
import { loadCards, lockCards, requireCard, typeOf } from '../../inventory/cards/cards.load.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import { ownValue } from '../../inventory/cards/rules/diff.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, may, seesCosts } from '../../kernel/permissions/policy.ts';
import { lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { responseEvent } from './surveys.events.ts';
import { type ResponseRow, SurveyResponse, type SurveyRow } from './surveys.model.ts';
import { checkAnswers, describeField, type SentAnswer } from './surveys.rules.ts';

interface AskedCard {
  id: string;
  name: string;
  type: string;
  subtype: string | null;
  attributes: Record<string, unknown>;
  /** Keys of the roles that the caller holds on it. */
  myRoles: string[];
}

interface Question {
  response: ResponseRow;
  survey: SurveyRow;
  card: AskedCard;
}

/**
 * The caller's response to a survey about a card that the caller sees: the first pending one, else the last answered one.
 * @throws EstateError `not_found`; `forbidden` where there is none and the caller may not answer surveys.
 */
async function findQuestion(sql: Sql, ctx: Ctx, surveyId: string, cardId: string): Promise<Question> {
  const visible = visibleCards(ctx);
  const [question] = await queryRows<Question>(
    sql,
    `select to_jsonb(r) as response, to_jsonb(s) as survey,
       jsonb_build_object('id', c.id, 'name', c.name, 'type', c.type, 'subtype', c.subtype, 'attributes', c.attributes,
         'myRoles', array(select m.role from stakeholders m where m.card_id = c.id and m.user_id = r.user_id)) as card
     from survey_responses r join surveys s on s.id = r.survey_id join cards c on c.id = r.card_id
     where r.survey_id = ?::uuid and r.card_id = ?::uuid and r.user_id = ?::uuid and s.status <> 'draft'
       and (${visible.sql})
     order by r.status = 'completed', r.responded_at desc, r.id limit 1`,
    [surveyId, cardId, ctx.caller.userId, ...visible.bindings],
  );
  if (question) return question;
  if (!may(ctx.caller, 'surveys.respond')) throw forbidden('surveys.respond');
  if (!(await sql('cards').where({ id: cardId }).first('id'))) throw notFound('card', cardId);
  throw notFound('survey response', cardId);
}

/**
 * The form of an answer: the fields as the card type declares them now, with their present values. Deleted fields, and
 * costs that the caller does not see, are left out.
 * @throws EstateError `not_found`, also for a survey that is closed; `forbidden`.
 */
export async function readForm(ctx: Ctx, surveyId: string, cardId: string): Promise<JsonText> {
  const { response, survey, card } = await findQuestion(ctx.db, ctx, surveyId, cardId);
  if (survey.status !== 'active') throw notFound('survey response', cardId);
  const type = ctx.metamodel.cardTypes.get(card.type)!;
  const hidden = new Set(seesCosts(ctx, card) ? [] : [...type.costKeys, ...response.cost_keys]);
  const fields = survey.fields.flatMap((field) => {
    const described = hidden.has(field.key) ? undefined : describeField(type, field);
    return described ? { ...described, current_value: ownValue(card.attributes, field.key) } : [];
  });
  const answered = Object.entries(response.responses).filter(([key]) => !hidden.has(key));
  return JSON.stringify({
    response_id: response.id,
    response_status: response.status,
    survey: { id: survey.id, name: survey.name, message: survey.message },
    card: {
      id: card.id,
      name: card.name,
      type: card.type,
      subtype: card.subtype,
      type_translations: type.translations,
      subtype_translations: type.subtypes.find(({ key }) => key === card.subtype)?.translations ?? {},
    },
    fields,
    existing_responses: Object.fromEntries(answered),
  });
}

/**
 * Answers a survey about a card, once. Absent fields are not answered. The card does not change before the answer is
 * applied.
 * @throws EstateError `not_found`, `forbidden`, `validation_failed` naming each answer that does not fit its field,
 * `wrong_state` when it was answered, the survey is closed or the card archived, `conflict` when a value is no longer
 * what the sender saw.
 */
export async function submitAnswer(
  ctx: Ctx,
  surveyId: string,
  cardId: string,
  sent: Record<string, SentAnswer>,
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    // locks, so that neither the survey is closed nor the card written before the commit
    await sql.raw('select from surveys where id = ?::uuid for share', [surveyId]);
    await lockCards(work, [cardId]);
    const found = await findQuestion(sql, ctx, surveyId, cardId);
    const { survey } = found;
    const before = await lockRow(sql, SurveyResponse, { id: found.response.id });
    if (!before) throw notFound('survey response', cardId);
    if (survey.status !== 'active') throw new EstateError('wrong_state', 'The survey is closed.');
    if (before.status !== 'pending') throw new EstateError('wrong_state', 'The survey has been answered.');
    const card = requireCard(await loadCards(work, ctx, [before.card_id]), cardId);
    if (card.status !== 'ACTIVE') throw new EstateError('wrong_state', 'The card is archived.');
    const type = typeOf(work.metamodel, card);
    refuseHiddenCosts(type.costKeys, sent, seesCosts(ctx, card));
    const { answers, faults, outdated } = checkAnswers(
      work.metamodel,
      type,
      survey.fields,
      card.attributes,
      sent,
    );
    if (faults.length > 0) throw invalidFields(faults);
    if (outdated.length > 0) {
      throw new EstateError('conflict', 'The card has changed since you read the form; read it again.', {
        extra: { fields: outdated },
      });
    }
    const after = await updateRow(
      sql,
      SurveyResponse,
      { id: before.id },
      {
        status: 'completed',
        responses: answers,
        cost_keys: type.costKeys.filter((key) => Object.hasOwn(answers, key)),
        responded_at: new Date().toISOString(),
      },
    );
    work.emit(responseEvent(card, before, after));
    return `{"status":"completed","response_id":"${after.id}"}`;
  });
}
