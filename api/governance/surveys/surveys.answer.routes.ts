import { listMySurveys } from '../../../domain/governance/surveys/surveys.list.ts';
import { readForm, submitAnswer } from '../../../domain/governance/surveys/surveys.responses.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/surveys.ts';
import type { App } from '../../types.ts';

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
    answers: page('Surveys, last sent first', schemas.MySurveySchema),
    handler: ({ ctx, query }) => listMySurveys(ctx, query),
  });

  routes.get('/api/v1/surveys/:survey_id/respond/:card_id', {
    id: 'getSurveyForm',
    summary: 'Read the form of a response, with the current values of the card',
    ...asked,
    answers: ok('The form', schemas.SurveyFormSchema),
    handler: ({ ctx, params }) => readForm(ctx, params.survey_id, params.card_id),
  });

  routes.post('/api/v1/surveys/:survey_id/respond/:card_id', {
    id: 'submitSurveyAnswer',
    summary: 'Respond to a survey about a card',
    description:
      'Possible once. Every value is checked against the current definition of its field. The card changes when the response is applied.',
    ...asked,
    body: schemas.SurveySubmitBody,

    answers: ok('Answered', schemas.SurveySubmittedSchema),
    errors: ['wrong_state', 'conflict'],
    handler: ({ ctx, params, body }) => submitAnswer(ctx, params.survey_id, params.card_id, body.responses),
  });
}
