import Type, { type Static } from 'typebox';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidFields, notFound } from '../../../platform/errors.ts';
import {
  loadCards,
  lockCards,
  requireCard,
  type StoredCard,
  typeOf,
} from '../../inventory/cards/cards.load.ts';
import type { CardColumns } from '../../inventory/cards/cards.model.ts';
import { refuseHiddenCosts, visibleCards } from '../../inventory/cards/cards.projection.ts';
import { summedKeys } from '../../inventory/cards/cards.rows.ts';
import { saveCards, withDerivedValues } from '../../inventory/cards/cards.save.ts';
import { EDIT } from '../../inventory/cards/cards.write.ts';
import { ownValue } from '../../inventory/cards/rules/diff.ts';
import { command, commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import {
  forbidden,
  may,
  requireOnCards,
  requirePermission,
  seesCosts,
} from '../../kernel/permissions/policy.ts';
import { lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { Choice, Count, component, object, Uuid } from '../../kernel/shapes.ts';
import { responseEvent } from './surveys.commands.ts';
import { type ResponseRow, type SurveyField, SurveyResponse, type SurveyRow } from './surveys.model.ts';
import {
  applyRelations,
  asksRelations,
  relatedCards,
  unknownCardErrors,
  visibleQuestions,
} from './surveys.relations.ts';
import { applyAnswer, checkAnswers, describeField, type SentAnswer } from './surveys.rules.ts';

export const SurveyAppliedSchema = component('SurveyApplied', {
  dry_run: Type.Boolean(),
  applied: Count,
  errors: Type.Array(
    object({
      response_id: Uuid,
      card_id: Type.Union([Uuid, Type.Null()], { description: 'Null for an unknown response' }),
      code: Choice([
        'not_found',
        'not_completed',
        'already_applied',
        'card_hidden',
        'card_archived',
        'changed_since',
        'value_does_not_fit',
        'relation_refused',
      ]),
      message: Type.String(),
      fields: Type.Array(Type.String(), { description: 'Keys of the conflicting fields' }),
    }),
  ),
});
type ApplyReport = Static<typeof SurveyAppliedSchema>;
type NotApplied = ApplyReport['errors'][number];

/**
 * Writes answers to their cards like a bulk change, each answer completely or not at all; of two that give one field
 * different values the first takes precedence. Confirmed values are not changed. Answers that cannot be applied are
 * reported, and the others applied.
 * @throws EstateError `forbidden` if one of the cards may not be edited or a cost is not visible; `not_found`.
 */
export async function applyResponses(
  ctx: Ctx,
  id: string,
  responseIds: string[],
  dryRun: boolean,
): Promise<ApplyReport> {
  requirePermission(ctx.caller, 'surveys.manage');
  return await commandWith(ctx, { dryRun }, async (work) => {
    const { sql } = work;
    const surveys = await query(sql).rows<Pick<SurveyRow, 'fields'>>`select fields from surveys
      where id = ${id}::uuid for share`;
    if (surveys.length === 0) throw notFound('survey', id);
    const { fields } = surveys[0]!;
    const wanted = [...new Set(responseIds.map((given) => given.toLowerCase()))];
    const asked: string[] = await sql('survey_responses')
      .where({ survey_id: id })
      .whereIn('id', wanted)
      .pluck('card_id');
    await lockCards(work, new Set(asked));
    const responses = await lockResponses(work, id, wanted, asked);
    const cards = await loadCards(work, ctx, new Set([...responses.values()].map(({ card_id }) => card_id)));
    requireOnCards(ctx, EDIT, cards.values());
    const report: ApplyReport = { dry_run: dryRun, applied: 0, errors: [] };
    const planned = new Map(cards);
    const applied: ResponseRow[] = [];
    for (const response_id of wanted) {
      const response = responses.get(response_id);
      const before = response && planned.get(response.card_id);
      const refused =
        attemptFields(work, ctx, response, planned) ??
        (await attemptRelations(work, ctx, response!, typeOf(work.metamodel, before!), fields));
      if (!refused) applied.push(response!);
      else {
        if (before) planned.set(before.id, before);
        report.errors.push({ response_id, card_id: response?.card_id ?? null, ...refused });
      }
    }
    // written relations have changed values that follow from them
    const current = await loadCards(work, ctx, new Set(cards.keys()));
    const after = new Map(current);
    for (const response of applied) attemptFields(work, ctx, response, after);
    await saveCards(
      work,
      ctx,
      [...current.values()]
        .map((before) => ({ before, after: after.get(before.id)! }))
        .filter((write) => write.before !== write.after)
        .map((write) => ({
          before: write.before,
          after: withDerivedValues(typeOf(work.metamodel, write.before), write.before, write.after),
        })),
    );
    await markApplied(work, applied, cards);
    report.applied = applied.length;
    return report;
  });
}

/** The responses on locked cards; one that a merge has just moved to another card is omitted. */
async function lockResponses(
  work: Work,
  id: string,
  ids: string[],
  cardIds: string[],
): Promise<Map<string, ResponseRow>> {
  const rows = await query(work.sql).column<ResponseRow>`select to_jsonb(r) as row
    from survey_responses r where r.survey_id = ${id}::uuid and r.id = any(${ids}::uuid[])
       and r.card_id = any(${cardIds}::uuid[])
     order by r.id for no key update`;
  return new Map(rows.map((row) => [row.id, row]));
}

type Refused = Omit<NotApplied, 'response_id' | 'card_id'>;

/** Writes the relations of one answer. @returns why they were refused. */
async function attemptRelations(
  work: Work,
  ctx: Ctx,
  response: ResponseRow,
  type: CardType,
  asked: readonly SurveyField[],
): Promise<Refused | undefined> {
  const fields = asked.flatMap((field) =>
    asksRelations(field.key) ? (describeField(work.metamodel, type, field) ?? []) : [],
  );
  const refused = await applyRelations(work, ctx, response, fields);
  return refused && { code: 'relation_refused', ...refused };
}

/** Applies the fields of one answer to the card after the previous answers. @returns why it was refused. */
function attemptFields(
  work: Work,
  ctx: Ctx,
  response: ResponseRow | undefined,
  cards: Map<string, StoredCard>,
): Refused | undefined {
  const refused = (code: Refused['code'], message: string): Refused => ({ code, message, fields: [] });
  if (!response) return refused('not_found', 'The survey has no such response.');
  if (response.status !== 'completed') return refused('not_completed', 'It has not been answered.');
  if (response.applied) return refused('already_applied', 'It has been applied already.');
  const card = cards.get(response.card_id);
  if (!card) return refused('card_hidden', 'Cards of this type are hidden.');
  if (card.status !== 'ACTIVE') return refused('card_archived', 'The card is archived.');
  const type = typeOf(work.metamodel, card);
  refuseHiddenCosts([...type.costKeys, ...response.cost_keys], response.responses, seesCosts(ctx, card));
  const summed = summedKeys(type, card).filter((key) => response.responses[key]?.confirmed === false);
  if (summed.length > 0) {
    const message = 'The value is the sum of the lines of the initiative.';
    return { code: 'value_does_not_fit', message, fields: summed };
  }
  const outcome = applyAnswer(work.metamodel, type, card.attributes, response.responses);
  if ('code' in outcome) return outcome;
  cards.set(card.id, { ...card, attributes: outcome.attributes });
  return undefined;
}

async function markApplied(
  work: Work,
  applied: ResponseRow[],
  cards: ReadonlyMap<string, StoredCard>,
): Promise<void> {
  if (applied.length === 0) return;
  const rows = await query(work.sql).column<ResponseRow>`update survey_responses r
    set applied = true, applied_at = clock_timestamp(), updated_at = clock_timestamp()
     where r.id = any(${applied.map(({ id }) => id)}::uuid[]) returning to_jsonb(r) as row`;
  const after = new Map(rows.map((row) => [row.id, row]));
  for (const before of applied) {
    work.emit(responseEvent(cards.get(before.card_id)!, before, after.get(before.id)!));
  }
}

interface AskedCard extends Pick<CardColumns, 'id' | 'name' | 'type' | 'subtype' | 'attributes'> {
  /** Keys of the caller's roles on it. */
  myRoles: string[];
}

interface Question {
  response: ResponseRow;
  survey: SurveyRow;
  card: AskedCard;
}

/**
 * The caller's response to a survey about a visible card: the first pending one, else the last answered one.
 * @throws EstateError `not_found`; `forbidden` if there is none and the caller may not answer surveys.
 */
async function findQuestion(sql: Sql, ctx: Ctx, surveyId: string, cardId: string): Promise<Question> {
  const [question] = await query(sql).rows<Question>`select to_jsonb(r) as response, to_jsonb(s) as survey,
       jsonb_build_object('id', c.id, 'name', c.name, 'type', c.type, 'subtype', c.subtype, 'attributes',
       c.attributes,
         'myRoles', array(select m.role from stakeholders m
         where m.card_id = c.id and m.user_id = r.user_id)) as card
     from survey_responses r join surveys s on s.id = r.survey_id join cards c on c.id = r.card_id
     where r.survey_id = ${surveyId}::uuid and r.card_id = ${cardId}::uuid
     and r.user_id = ${ctx.caller.userId}::uuid and s.status <> 'draft'
       and (${embed(visibleCards(ctx))})
     order by r.status = 'completed', r.responded_at desc, r.id limit 1`;
  if (question) return question;
  if (!may(ctx.caller, 'surveys.respond')) throw forbidden('surveys.respond');
  if (!(await sql('cards').where({ id: cardId }).first('id'))) throw notFound('card', cardId);
  throw notFound('survey response', cardId);
}

/**
 * The form of an answer: the fields as the card type declares them now, with their current values. Deleted fields, and
 * costs that the caller may not see, are omitted.
 * @throws EstateError `not_found`, also for a survey that is closed; `forbidden`.
 */
export async function readForm(ctx: Ctx, surveyId: string, cardId: string): Promise<JsonText> {
  const { response, survey, card } = await findQuestion(ctx.db, ctx, surveyId, cardId);
  if (survey.status !== 'active') throw notFound('survey response', cardId);
  const type = ctx.metamodel.cardTypes.get(card.type)!;
  const hidden = new Set(seesCosts(ctx, card) ? [] : [...type.costKeys, ...response.cost_keys]);
  const described = visibleQuestions(ctx, survey.fields).flatMap((field) =>
    hidden.has(field.key) ? [] : (describeField(ctx.metamodel, type, field) ?? []),
  );
  const related = await relatedCards(ctx.db, ctx, card.id, described);
  const fields = described.map((field) => {
    const cards = related.get(field.key);
    return cards
      ? { ...field, current_value: cards.map(({ id }) => id), current_cards: cards }
      : { ...field, current_value: ownValue(card.attributes, field.key) };
  });
  const existing = Object.entries(response.responses).map(([key, answer]) => ({ key, answer }));
  const answered = visibleQuestions(ctx, existing).flatMap(({ key, answer }) =>
    hidden.has(key) ? [] : [[key, answer] as const],
  );
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
 * @throws EstateError `not_found`, `forbidden`, `validation_failed` naming each answer that is not valid for its field,
 * `wrong_state` if it was answered, the survey is closed or the card archived, `conflict` if a value has changed since
 * the form was read.
 */
export async function submitAnswer(
  ctx: Ctx,
  surveyId: string,
  cardId: string,
  sent: Record<string, SentAnswer>,
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    // Locks, so that neither the survey is closed nor the card written before the commit.
    await query(sql).run`select from surveys where id = ${surveyId}::uuid for share`;
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
    const asked = visibleQuestions(ctx, survey.fields).flatMap((field) =>
      asksRelations(field.key) ? (describeField(work.metamodel, type, field) ?? []) : [field],
    );
    const related = [...(await relatedCards(sql, ctx, card.id, asked))];
    const ids = Object.fromEntries(related.map(([key, cards]) => [key, cards.map(({ id }) => id)]));
    const stored = { ...card.attributes, ...ids };
    const { answers, errors, outdated } = checkAnswers(work.metamodel, type, asked, stored, sent);
    if (errors.length === 0) errors.push(...(await unknownCardErrors(sql, ctx, asked, answers)));
    if (errors.length > 0) throw invalidFields(errors);
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
