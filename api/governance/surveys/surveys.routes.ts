import Type from 'typebox';
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
import {
  Survey,
  SurveyFields,
  SurveyFilters,
  SurveyResponse,
  SurveyRoles,
} from '../../../domain/governance/surveys/surveys.model.ts';
import { applyResponses } from '../../../domain/governance/surveys/surveys.responses.ts';
import { previewSurvey } from '../../../domain/governance/surveys/surveys.targets.ts';
import {
  Choice,
  Count,
  component,
  itemComponent,
  Key,
  Nullable,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { bodiesOf, listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { Answers, field } from './surveys.schemas.ts';

const Name = Survey.columns.name;

const bodies = bodiesOf(
  { name: Name, target_type_key: Key },
  {
    description: Survey.columns.description,
    message: Survey.columns.message,
    target_filters: Nullable(SurveyFilters),
    target_roles: Nullable(SurveyRoles),
    fields: Nullable(SurveyFields),
  },
);

const surveyMembers = {
  ...Survey.columns,
  fields: Type.Array(object(field)),
  creator_name: Nullable(Type.String()),
  total_responses: Count,
  completed_responses: Count,
  applied_responses: Count,
};
const SurveySchema = component('Survey', surveyMembers);
const SentSurveySchema = component('SentSurvey', {
  ...surveyMembers,
  targets_created: Type.Integer({
    minimum: 1,
    description: 'Number of requested responses: one per card and user',
  }),
});

const PreviewQuery = object({
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: 'From 1' }),
  page_size: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Cards per page' }),
});
const SurveyPreviewSchema = component('SurveyPreview', {
  total_cards: Count,
  total_users: Count,
  page: Type.Integer({ minimum: 1 }),
  page_size: Type.Integer({ minimum: 1 }),
  targets: Type.Array(
    object({
      card_id: Uuid,
      card_name: Type.String(),
      card_type: Type.String(),
      users: Type.Array(
        object({
          user_id: Uuid,
          display_name: Type.String(),
          email: Type.String(),
          role: Type.String(),
        }),
      ),
    }),
  ),
});

const { cost_keys: _costKeys, updated_at: _updatedAt, ...responseColumns } = SurveyResponse.columns;
const SurveyResponseSchema = itemComponent('SurveyResponse', {
  ...responseColumns,
  card_name: Type.String(),
  card_type: Type.String(),
  user_display_name: Nullable(Type.String({ description: 'Null if the user was deleted' })),
  user_email: Nullable(Type.String()),
  responses: Answers,
});

const SurveyApplyBody = object({
  response_ids: Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: 'Duplicates count once' }),
  dry_run: Type.Boolean({ default: false, description: 'Return the same response without writing' }),
});
const SurveyAppliedSchema = component('SurveyApplied', {
  dry_run: Type.Boolean(),
  applied: Count,
  errors: Type.Array(
    object({
      response_id: Uuid,
      card_id: Nullable(Uuid),
      code: Choice([
        'not_found',
        'not_completed',
        'already_applied',
        'card_hidden',
        'card_archived',
        'changed_since',
        'value_does_not_fit',
      ]),
      message: Type.String(),
      fields: Type.Array(Type.String(), { description: 'Keys of the conflicting fields' }),
    }),
  ),
});

/** Surveys: create, send, and apply responses. */
export function registerSurveyRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Surveys', permission: 'surveys.manage' });

  routes.get('/api/v1/surveys', {
    id: 'listSurveys',
    summary: 'List surveys with the numbers of their responses',
    query: listQuery(surveySorts, 'created_at', surveyFilters),
    responses: page('Surveys, newest first', SurveySchema),
    handler: ({ ctx, query }) => listSurveys(ctx, query),
  });

  routes.post('/api/v1/surveys', {
    id: 'createSurvey',
    summary: 'Create a survey as a draft',
    body: bodies.create,
    responses: created('The survey', SurveySchema),
    handler: ({ ctx, body }) => createSurvey(ctx, body as SurveyInput),
  });

  routes.get('/api/v1/surveys/:survey_id', {
    id: 'getSurvey',
    summary: 'Read a survey',
    responses: ok('The survey', SurveySchema),
    handler: ({ ctx, params }) => readSurvey(ctx, params.survey_id),
  });

  routes.patch('/api/v1/surveys/:survey_id', {
    id: 'patchSurvey',
    summary: 'Change a draft',
    description: '`target_filters`, `target_roles` and `fields` are replaced completely; null empties them.',
    body: bodies.patch,
    responses: ok('The survey', SurveySchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchSurvey(ctx, params.survey_id, body as SurveyInput),
  });

  routes.delete('/api/v1/surveys/:survey_id', {
    id: 'deleteSurvey',
    summary: 'Delete a draft',
    ifMatch: true,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteSurvey(ctx, params.survey_id),
  });

  routes.post('/api/v1/surveys/:survey_id/preview', {
    id: 'previewSurvey',
    summary: 'Preview which users would be asked about which cards',
    permissionNote: 'stakeholders.view',
    query: PreviewQuery,
    responses: ok('Cards by name, a page of them', SurveyPreviewSchema),
    handler: ({ ctx, params, query }) => previewSurvey(ctx, params.survey_id, query),
  });

  routes.post('/api/v1/surveys/:survey_id/send', {
    id: 'sendSurvey',
    summary: 'Send a draft',
    description:
      'Requests a response from every active person who has one of the roles on a card that the filters select, once for each card, and notifies them. Refused with `survey_incomplete`, whose `missing` lists the missing parts: `fields`, `target_roles` or `targets`.',
    permissionNote: 'stakeholders.view',
    ifMatch: true,
    responses: ok('The survey', SentSurveySchema),
    errors: ['wrong_state', 'survey_incomplete', 'survey_too_large'],
    handler: ({ ctx, params }) => sendSurvey(ctx, params.survey_id),
  });

  routes.post('/api/v1/surveys/:survey_id/close', {
    id: 'closeSurvey',
    summary: 'Close a survey, which then accepts no more answers',
    description: 'Existing answers can still be applied.',
    ifMatch: true,
    responses: ok('The survey', SurveySchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => closeSurvey(ctx, params.survey_id),
  });

  routes.get('/api/v1/surveys/:survey_id/responses', {
    id: 'listSurveyResponses',
    summary: 'List the responses to a survey',
    query: listQuery(responseSorts, 'created_at', responseFilters),
    responses: page('Responses', SurveyResponseSchema),
    handler: ({ ctx, params, query }) => listResponses(ctx, params.survey_id, query),
  });

  routes.post('/api/v1/surveys/:survey_id/apply', {
    id: 'applySurveyResponses',
    summary: 'Apply selected answers to the cards',
    description:
      'Each response is applied completely, or listed under `errors` with the reason: the card was changed later, or a value is no longer valid for its field. Confirmed values change nothing.',
    permissionNote: 'inventory.edit or card.edit on every card; costs.view for costs',
    body: SurveyApplyBody,
    responses: ok('What was applied', SurveyAppliedSchema),
    handler: ({ ctx, params, body }) =>
      applyResponses(ctx, params.survey_id, body.response_ids, body.dry_run),
  });
}
