import Type from 'typebox';
import {
  closeSurvey,
  createSurvey,
  deleteSurvey,
  patchSurvey,
  remindOfSurvey,
  type SurveyInput,
  sendSurvey,
} from '../../../domain/governance/surveys/surveys.commands.ts';
import {
  mySurveyList,
  surveyList,
  surveyResponseList,
} from '../../../domain/governance/surveys/surveys.list.ts';
import {
  Answers,
  QuestionKey,
  Survey,
  SurveyFields,
  SurveyFilters,
  SurveyResponse,
  SurveyRoles,
  surveyField,
} from '../../../domain/governance/surveys/surveys.model.ts';
import {
  applyResponses,
  readForm,
  SurveyAppliedSchema,
  submitAnswer,
} from '../../../domain/governance/surveys/surveys.responses.ts';
import { previewSurvey } from '../../../domain/governance/surveys/surveys.targets.ts';
import {
  Count,
  component,
  Flag,
  IntegerFrom,
  itemComponent,
  Key,
  Nullable,
  NullableText,
  OpenObject,
  object,
  partialObject,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { bodiesOf } from '../../schemas.ts';
import type { App } from '../../types.ts';

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
  fields: Type.Array(object(surveyField)),
  creator_name: Nullable(Type.String()),
  total_responses: Count,
  completed_responses: Count,
  applied_responses: Count,
};
const SurveySchema = component('Survey', surveyMembers);
const SentSurveySchema = component('SentSurvey', {
  ...surveyMembers,
  targets_created: IntegerFrom(1, 'Number of requested responses: one per card and user'),
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
const SurveyResponseSchema = itemComponent('SurveyResponse', {
  ...SurveyResponse.shown.columns,
  card_name: Type.String(),
  card_type: Type.String(),
  user_display_name: NullableText('Null if the user was deleted'),
  user_email: Nullable(Type.String()),
  responses: Answers,
});

const SurveyRemindedSchema = component('SurveyReminded', {
  users_pending: Type.Integer({ minimum: 0, description: 'Users who have not answered' }),
  users_reminded: Type.Integer({ minimum: 0, description: 'Those of them who are reminded now' }),
});

const SurveyApplyBody = object({
  response_ids: Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: 'Duplicates count once' }),
  dry_run: Flag('Return the same response without writing'),
});
/** Surveys: create, send, and apply responses. */
export function registerSurveyRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Surveys', permission: 'surveys.manage' });

  routes.list('listSurveys', '/api/v1/surveys', surveyList, {
    summary: 'List surveys with the numbers of their responses',
    responses: page('Surveys, newest first', SurveySchema),
  });

  routes.post('createSurvey', '/api/v1/surveys', {
    summary: 'Create a survey as a draft',
    body: bodies.create,
    responses: created('The survey', SurveySchema),
    handler: ({ ctx, body }) => createSurvey(ctx, body as SurveyInput),
  });

  routes.item('getSurvey', '/api/v1/surveys/:survey_id', surveyList, 'survey', {
    summary: 'Read a survey',
    responses: ok('The survey', SurveySchema),
  });

  routes.patch('patchSurvey', '/api/v1/surveys/:survey_id', {
    summary: 'Change a draft',
    description: '`target_filters`, `target_roles` and `fields` are replaced completely; null empties them.',
    body: bodies.patch,
    responses: ok('The survey', SurveySchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchSurvey(ctx, params.survey_id, body as SurveyInput),
  });

  routes.delete('deleteSurvey', '/api/v1/surveys/:survey_id', {
    summary: 'Delete a draft',
    ifMatch: true,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteSurvey(ctx, params.survey_id),
  });

  routes.post('previewSurvey', '/api/v1/surveys/:survey_id/preview', {
    summary: 'Preview which users would be asked about which cards',
    permissionNote: 'stakeholders.view',
    query: PreviewQuery,
    responses: ok('Cards by name, a page of them', SurveyPreviewSchema),
    handler: ({ ctx, params, query }) => previewSurvey(ctx, params.survey_id, query),
  });

  routes.post('sendSurvey', '/api/v1/surveys/:survey_id/send', {
    summary: 'Send a draft',
    description:
      'Requests a response from every active person who has one of the roles on a card that the filters select, once for each card, and notifies them. Refused with `survey_incomplete`, whose `missing` lists the missing parts: `fields`, `target_roles` or `targets`.',
    permissionNote: 'stakeholders.view',
    ifMatch: true,
    responses: ok('The survey', SentSurveySchema),
    errors: ['wrong_state', 'survey_incomplete', 'survey_too_large'],
    handler: ({ ctx, params }) => sendSurvey(ctx, params.survey_id),
  });

  routes.post('remindOfSurvey', '/api/v1/surveys/:survey_id/remind', {
    summary: 'Remind the users who have not answered',
    description:
      'By a notification, as when the survey was sent. A user is reminded at most once in 24 hours, whatever the survey.',
    ifMatch: true,
    responses: ok('Who is reminded', SurveyRemindedSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => remindOfSurvey(ctx, params.survey_id),
  });

  routes.post('closeSurvey', '/api/v1/surveys/:survey_id/close', {
    summary: 'Close a survey, which then accepts no more answers',
    description: 'Existing answers can still be applied.',
    ifMatch: true,
    responses: ok('The survey', SurveySchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => closeSurvey(ctx, params.survey_id),
  });

  routes.list('listSurveyResponses', '/api/v1/surveys/:survey_id/responses', surveyResponseList, {
    summary: 'List the responses to a survey',
    responses: page('Responses', SurveyResponseSchema),
  });

  routes.post('applySurveyResponses', '/api/v1/surveys/:survey_id/apply', {
    summary: 'Apply selected answers to the cards',
    description:
      'Each response is applied completely, or listed under `errors` with the reason: the card was changed later, or a value is no longer valid for its field. Confirmed values change nothing. Relations are added and removed as the answer differs from what was there when it was given.',
    permissionNote:
      'inventory.edit or card.edit on every card; costs.view for costs; relations.manage or card.manage_relations for relations',
    body: SurveyApplyBody,
    responses: ok('What was applied', SurveyAppliedSchema),
    handler: ({ ctx, params, body }) =>
      applyResponses(ctx, params.survey_id, body.response_ids, body.dry_run),
  });
}

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
  fields: Type.Array(
    object({
      ...surveyField,
      current_value: Type.Unknown(),
      current_cards: Type.Optional(
        Type.Array(object({ id: Uuid, name: Type.String() }), {
          description: 'Of a question about relations',
        }),
      ),
    }),
  ),
  existing_responses: Answers,
});

const SurveySubmitBody = object({
  responses: Type.Record(
    QuestionKey,
    partialObject({
      new_value: Type.Unknown({
        description: 'Null clears; about relations, the ids of all related cards',
      }),
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

  routes.list('listMySurveys', '/api/v1/surveys/my', mySurveyList, {
    summary: 'List your pending surveys with their cards',
    ...asked,
    responses: page('Surveys, last sent first', MySurveySchema),
  });

  routes.get('getSurveyForm', '/api/v1/surveys/:survey_id/respond/:card_id', {
    summary: 'Read the form of a response, with the current values of the card',
    ...asked,
    responses: ok('The form', SurveyFormSchema),
    handler: ({ ctx, params }) => readForm(ctx, params.survey_id, params.card_id),
  });

  routes.post('submitSurveyAnswer', '/api/v1/surveys/:survey_id/respond/:card_id', {
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
