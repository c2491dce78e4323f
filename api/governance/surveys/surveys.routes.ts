import {
  closeSurvey,
  createSurvey,
  deleteSurvey,
  patchSurvey,
  type SurveyInput,
  sendSurvey,
} from '../../../domain/governance/surveys/surveys.commands.ts';
import {
  listResponses,
  listSurveys,
  readSurvey,
  responseFilters,
  responseSorts,
  surveyFilters,
  surveySorts,
} from '../../../domain/governance/surveys/surveys.list.ts';
import { applyResponses } from '../../../domain/governance/surveys/surveys.responses.ts';
import { previewSurvey } from '../../../domain/governance/surveys/surveys.targets.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/surveys.ts';
import type { App } from '../../types.ts';

const survey = schemas.SurveySchema;

/** Surveys: create, send, and apply responses. */
export function registerSurveyRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Surveys', permission: 'surveys.manage' });

  routes.get('/api/v1/surveys', {
    id: 'listSurveys',
    summary: 'List surveys with the numbers of their responses',
    query: listQuery(surveySorts, 'created_at', surveyFilters),
    answers: page('Surveys, newest first', schemas.SurveyItemSchema),
    handler: ({ ctx, query }) => listSurveys(ctx, query),
  });

  routes.post('/api/v1/surveys', {
    id: 'createSurvey',
    summary: 'Create a survey as a draft',
    body: schemas.SurveyCreateBody,

    answers: created('The survey', survey),
    handler: ({ ctx, body }) => createSurvey(ctx, body as SurveyInput),
  });

  routes.get('/api/v1/surveys/:survey_id', {
    id: 'getSurvey',
    summary: 'Read a survey',
    answers: ok('The survey', survey),
    handler: ({ ctx, params }) => readSurvey(ctx, params.survey_id),
  });

  routes.patch('/api/v1/surveys/:survey_id', {
    id: 'patchSurvey',
    summary: 'Change a draft',
    description: '`target_filters`, `target_roles` and `fields` are replaced completely; null empties them.',
    body: schemas.SurveyPatchBody,

    headers: ['If-Match'],
    answers: ok('The survey', survey),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchSurvey(ctx, params.survey_id, body as SurveyInput),
  });

  routes.delete('/api/v1/surveys/:survey_id', {
    id: 'deleteSurvey',
    summary: 'Delete a draft',
    headers: ['If-Match'],
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteSurvey(ctx, params.survey_id),
  });

  routes.post('/api/v1/surveys/:survey_id/preview', {
    id: 'previewSurvey',
    summary: 'Preview which users would be asked about which cards',
    permissionNote: 'stakeholders.view',
    query: schemas.PreviewQuery,
    answers: ok('Cards by name, a page of them', schemas.SurveyPreviewSchema),
    handler: ({ ctx, params, query }) => previewSurvey(ctx, params.survey_id, query),
  });

  routes.post('/api/v1/surveys/:survey_id/send', {
    id: 'sendSurvey',
    summary: 'Send a draft',
    description:
      'Requests a response from every active person who has one of the roles on a card that the filters select, once for each card, and notifies them. Refused with `survey_incomplete`, whose `missing` lists the missing parts: `fields`, `target_roles` or `targets`.',
    permissionNote: 'stakeholders.view',
    headers: ['If-Match'],
    answers: ok('The survey', schemas.SentSurveySchema),
    errors: ['wrong_state', 'survey_incomplete', 'survey_too_large'],
    handler: ({ ctx, params }) => sendSurvey(ctx, params.survey_id),
  });

  routes.post('/api/v1/surveys/:survey_id/close', {
    id: 'closeSurvey',
    summary: 'Close a survey, which then accepts no more answers',
    description: 'Existing answers can still be applied.',
    headers: ['If-Match'],
    answers: ok('The survey', survey),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => closeSurvey(ctx, params.survey_id),
  });

  routes.get('/api/v1/surveys/:survey_id/responses', {
    id: 'listSurveyResponses',
    summary: 'List the responses to a survey',
    query: listQuery(responseSorts, 'created_at', responseFilters),
    answers: page('Responses', schemas.SurveyResponseSchema),
    handler: ({ ctx, params, query }) => listResponses(ctx, params.survey_id, query),
  });

  routes.post('/api/v1/surveys/:survey_id/apply', {
    id: 'applySurveyResponses',
    summary: 'Apply selected answers to the cards',
    description:
      'Each response is applied completely, or listed under `errors` with the reason: the card was changed later, or a value is no longer valid for its field. Confirmed values change nothing.',
    permissionNote: 'inventory.edit or card.edit on every card; costs.view for costs',
    body: schemas.SurveyApplyBody,
    answers: ok('What was applied', schemas.SurveyAppliedSchema),
    handler: ({ ctx, params, body }) =>
      applyResponses(ctx, params.survey_id, body.response_ids, body.dry_run),
  });
}
