import { listMySurveys } from '../../../domain/governance/surveys/surveys.list.ts';
import { readForm, submitAnswer } from '../../../domain/governance/surveys/surveys.responses.ts';
import { routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/surveys.ts';
import type { App } from '../../types.ts';

const asked = {
  permission: 'login',
  scope: 'surveys.respond',
  permissionNote: 'surveys.respond unless the caller is asked',
} as const;

/** What waits for the caller's answer, and answering it. */
export function registerSurveyAnswerRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Surveys' });

  routes.get('/api/v1/surveys/my', {
    id: 'listMySurveys',
    summary: 'List the surveys that wait for your answers, with the cards they ask about',
    ...asked,
    query: listQuery(['sent_at', 'survey_name'], 'sent_at', {}),
    answers: {
      200: { description: 'Surveys, the last sent first', schema: listAnswer(schemas.MySurveySchema) },
    },
    handler: ({ ctx, query }) => listMySurveys(ctx, query),
  });

  routes.get('/api/v1/surveys/:survey_id/respond/:card_id', {
    id: 'getSurveyForm',
    summary: 'Read the form of an answer, with the present values of the card',
    ...asked,
    answers: { 200: { description: 'The form', schema: schemas.SurveyFormSchema } },
    handler: ({ ctx, params }) => readForm(ctx, params.survey_id, params.card_id),
  });

  routes.post('/api/v1/surveys/:survey_id/respond/:card_id', {
    id: 'submitSurveyAnswer',
    summary: 'Answer a survey about a card, once',
    description:
      'Every value is checked against its field as it is declared now. The card changes when the answer is applied.',
    ...asked,
    body: schemas.SurveySubmitBody,

    answers: { 200: { description: 'Answered', schema: schemas.SurveySubmittedSchema } },
    errors: ['wrong_state', 'conflict'],
    handler: ({ ctx, params, body }) => submitAnswer(ctx, params.survey_id, params.card_id, body.responses),
  });
}
