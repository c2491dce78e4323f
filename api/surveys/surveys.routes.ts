import Type, { type TSchema } from 'typebox';
import { applyResponses } from '../../domain/governance/surveys/surveys.apply.ts';
import {
  closeSurvey,
  createSurvey,
  deleteSurvey,
  patchSurvey,
  type SurveyInput,
} from '../../domain/governance/surveys/surveys.commands.ts';
import {
  listResponses,
  listSurveys,
  readSurvey,
  responseFilters,
  responseSorts,
  surveyFilters,
  surveySorts,
} from '../../domain/governance/surveys/surveys.list.ts';
import { sendSurvey } from '../../domain/governance/surveys/surveys.send.ts';
import { previewSurvey } from '../../domain/governance/surveys/surveys.targets.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/surveys.ts';
import type { App } from '../types.ts';

const tag = 'Surveys';
const permission = 'surveys.manage';
const Params = Type.Object({ survey_id: Uuid }, closed);
const survey = Type.Ref('Survey#');

/** Writing surveys, sending them, and applying what was answered. */
export function registerSurveyRoutes(app: App): void {
  const shared: TSchema[] = [
    schemas.SurveySchema,
    schemas.SurveyItemSchema,
    schemas.SentSurveySchema,
    schemas.SurveyPreviewSchema,
    schemas.SurveyResponseSchema,
    schemas.SurveyAppliedSchema,
  ];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/surveys',
    id: 'listSurveys',
    tag,
    summary: 'List surveys with the numbers of their responses',
    permission,
    query: listQuery(surveySorts, 'created_at', surveyFilters),
    answers: { 200: { description: 'Surveys, newest first', schema: listAnswer(Type.Ref('SurveyItem#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listSurveys(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/surveys',
    id: 'createSurvey',
    tag,
    summary: 'Write a survey, as a draft',
    permission,
    body: schemas.SurveyCreateBody,
    bodyExample: {
      name: 'Are the owners’ data right?',
      message: 'Please look through your applications.',
      target_type_key: 'Application',
      target_filters: { filter: 'approval_status = DRAFT' },
      target_roles: ['responsible'],
      fields: [{ key: 'businessCriticality', action: 'confirm' }],
    },
    answers: { 201: { description: 'The survey', schema: survey, headers: ['ETag'] } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createSurvey(ctx, body as SurveyInput)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/surveys/:survey_id',
    id: 'getSurvey',
    tag,
    summary: 'Read a survey',
    permission,
    params: Params,
    answers: { 200: { description: 'The survey', schema: survey } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readSurvey(ctx, params.survey_id)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/surveys/:survey_id',
    id: 'patchSurvey',
    tag,
    summary: 'Change a draft',
    description: '`target_filters`, `target_roles` and `fields` are replaced as a whole; null empties them.',
    permission,
    params: Params,
    body: schemas.SurveyPatchBody,
    bodyExample: { target_roles: ['responsible', 'technical_application_owner'] },
    headers: ['If-Match'],
    answers: { 200: { description: 'The survey', schema: survey } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchSurvey(ctx, params.survey_id, body as SurveyInput)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/surveys/:survey_id',
    id: 'deleteSurvey',
    tag,
    summary: 'Delete a draft',
    permission,
    params: Params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      await deleteSurvey(ctx, params.survey_id);
      return reply.code(204).send();
    },
  });

  registerSurveyRunRoutes(app);
}

/** Sending of surveys, and their responses. */
function registerSurveyRunRoutes(app: App): void {
  operation(app, {
    method: 'POST',
    url: '/api/v1/surveys/:survey_id/preview',
    id: 'previewSurvey',
    tag,
    summary: 'Show who would be asked about which card now',
    permission,
    permissionNote: 'stakeholders.view',
    params: Params,
    query: schemas.PreviewQuery,
    answers: { 200: { description: 'Cards by name, a page of them', schema: Type.Ref('SurveyPreview#') } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await previewSurvey(ctx, params.survey_id, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/surveys/:survey_id/send',
    id: 'sendSurvey',
    tag,
    summary: 'Send a draft',
    description:
      'Asks every active person who holds one of the roles on a card that the filters select, once about each card, and tells them. Refused with `survey_incomplete`, whose `missing` names what it lacks: `fields`, `target_roles` or `targets`.',
    permission,
    permissionNote: 'stakeholders.view',
    params: Params,
    headers: ['If-Match'],
    answers: { 200: { description: 'The survey', schema: Type.Ref('SentSurvey#') } },
    errors: ['wrong_state', 'survey_incomplete', 'survey_too_large'],
    handler: async ({ ctx, params, reply }) => sendJson(reply, await sendSurvey(ctx, params.survey_id)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/surveys/:survey_id/close',
    id: 'closeSurvey',
    tag,
    summary: 'End a survey: nobody answers it any more',
    description: 'What was answered can still be applied.',
    permission,
    params: Params,
    headers: ['If-Match'],
    answers: { 200: { description: 'The survey', schema: survey } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => sendResource(reply, await closeSurvey(ctx, params.survey_id)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/surveys/:survey_id/responses',
    id: 'listSurveyResponses',
    tag,
    summary: 'List the responses to a survey',
    permission,
    params: Params,
    query: listQuery(responseSorts, 'created_at', responseFilters),
    answers: { 200: { description: 'Responses', schema: listAnswer(Type.Ref('SurveyResponse#')) } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listResponses(ctx, params.survey_id, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/surveys/:survey_id/apply',
    id: 'applySurveyResponses',
    tag,
    summary: 'Write chosen answers into the cards',
    description:
      'Each answer is applied whole, or told under `errors` with the reason: the card was changed after it was given, or a value no longer fits its field. What was confirmed changes nothing.',
    permission,
    permissionNote: 'inventory.edit or card.edit on every card; costs.view for costs',
    params: Params,
    body: schemas.SurveyApplyBody,
    answers: { 200: { description: 'What was applied', schema: Type.Ref('SurveyApplied#') } },
    handler: async ({ ctx, params, body }) =>
      await applyResponses(ctx, params.survey_id, body.response_ids, body.dry_run),
  });
}
