import Type from 'typebox';
import { listMySurveys } from '../../../domain/governance/surveys/surveys.list.ts';
import { Survey, SurveyResponse } from '../../../domain/governance/surveys/surveys.model.ts';
import { readForm, submitAnswer } from '../../../domain/governance/surveys/surveys.responses.ts';
import {
  Count,
  component,
  itemComponent,
  Key,
  Nullable,
  OpenObject,
  object,
  partialObject,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { Answers, field } from './surveys.schemas.ts';

const MySurveySchema = itemComponent('MySurvey', {
  survey_id: Uuid,
  survey_name: Type.String(),
  survey_message: Type.String(),
  survey_status: Survey.columns.status,
  target_type_key: Type.String(),
  pending_count: Count,
  items: Type.Array(object({ response_id: Uuid, card_id: Uuid, card_name: Type.String() }), {
    description: 'The first 500 by name',
  }),
});

const SurveyFormSchema = component('SurveyForm', {
  response_id: Uuid,
  response_status: SurveyResponse.columns.status,
  survey: object({ id: Uuid, name: Type.String(), message: Type.String() }),
  card: object({
    id: Uuid,
    name: Type.String(),
    type: Type.String(),
    subtype: Nullable(Type.String()),
    type_translations: OpenObject,
    subtype_translations: OpenObject,
  }),
  fields: Type.Array(object({ ...field, current_value: Type.Unknown() })),
  existing_responses: Answers,
});

const SurveySubmitBody = object({
  responses: Type.Record(
    Key,
    partialObject({
      new_value: Type.Unknown({ description: 'Null clears' }),
      confirmed: Type.Boolean({ description: 'Whether the current value is correct' }),
      current_value: Type.Unknown({
        description: 'The value that you saw: refused with `conflict` if it has changed',
      }),
    }),
    { maxProperties: 200, description: 'By the key of the field; omitted fields have no answer' },
  ),
});
const SurveySubmittedSchema = component('SurveySubmitted', {
  status: Type.Literal('completed'),
  response_id: Uuid,
});

const asked = {
  permission: 'login',
  scope: 'surveys.respond',
  permissionNote: 'surveys.respond unless the caller is a recipient',
} as const;

/** The caller's pending surveys and responses. */
export function registerSurveyAnswerRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Surveys' });

  routes.get('/api/v1/surveys/my', {
    id: 'listMySurveys',
    summary: 'List your pending surveys with their cards',
    ...asked,
    query: listQuery(['sent_at', 'survey_name'], 'sent_at', {}),
    responses: page('Surveys, last sent first', MySurveySchema),
    handler: ({ ctx, query }) => listMySurveys(ctx, query),
  });

  routes.get('/api/v1/surveys/:survey_id/respond/:card_id', {
    id: 'getSurveyForm',
    summary: 'Read the form of a response, with the current values of the card',
    ...asked,
    responses: ok('The form', SurveyFormSchema),
    handler: ({ ctx, params }) => readForm(ctx, params.survey_id, params.card_id),
  });

  routes.post('/api/v1/surveys/:survey_id/respond/:card_id', {
    id: 'submitSurveyAnswer',
    summary: 'Respond to a survey about a card',
    description:
      'Possible once. Every value is checked against the current definition of its field. The card changes when the response is applied.',
    ...asked,
    body: SurveySubmitBody,
    responses: ok('Answered', SurveySubmittedSchema),
    errors: ['wrong_state', 'conflict'],
    handler: ({ ctx, params, body }) => submitAnswer(ctx, params.survey_id, params.card_id, body.responses),
  });
}
