import Type from 'typebox';
import {
  Survey,
  SurveyActionName,
  SurveyFields,
  SurveyFilters,
  SurveyResponse,
  SurveyRoles,
} from '../../domain/governance/surveys/surveys.model.ts';
import {
  Choice,
  component,
  itemComponent,
  Key,
  Nullable,
  OpenObject,
  object,
  Uuid,
} from '../../domain/kernel/shapes.ts';
import { answersOf, bodiesOf } from './common.ts';

const Name = Survey.columns.name;
const Count = Type.Integer({ minimum: 0 });

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
export const SurveyCreateBody = bodies.create;
export const SurveyPatchBody = bodies.patch;

const field = {
  key: Type.String(),
  label: Type.String(),
  type: Type.String(),
  section: Type.String(),
  action: SurveyActionName,
  options: Type.Optional(Type.Array(object({ key: Type.String(), label: Type.String() }))),
  translations: Type.Optional(OpenObject),
};

const survey = {
  ...Survey.columns,
  fields: Type.Array(object(field)),
  creator_name: Nullable(Type.String()),
  total_responses: Count,
  completed_responses: Count,
  applied_responses: Count,
};
export const { whole: SurveySchema, item: SurveyItemSchema } = answersOf('Survey', survey);
export const SentSurveySchema = component('SentSurvey', {
  ...survey,
  targets_created: Type.Integer({
    minimum: 1,
    description: 'Number of requested responses: one per card and user',
  }),
});

export const PreviewQuery = object({
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: 'From 1' }),
  page_size: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Cards per page' }),
});
export const SurveyPreviewSchema = component('SurveyPreview', {
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

const Answer = object({
  current_value: Type.Unknown(),
  new_value: Type.Unknown(),
  confirmed: Type.Boolean(),
});
const Answers = Type.Record(Type.String(), Answer, { description: 'By the key of the field' });

const { cost_keys: _costKeys, updated_at: _updatedAt, ...responseColumns } = SurveyResponse.columns;
export const SurveyResponseSchema = itemComponent('SurveyResponse', {
  ...responseColumns,
  card_name: Type.String(),
  card_type: Type.String(),
  user_display_name: Nullable(Type.String({ description: 'Null if the user was deleted' })),
  user_email: Nullable(Type.String()),
  responses: Answers,
});

export const SurveyApplyBody = object({
  response_ids: Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: 'Duplicates count once' }),
  dry_run: Type.Boolean({ default: false, description: 'Return the same response without writing' }),
});
export const SurveyAppliedSchema = component('SurveyApplied', {
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

export const MySurveySchema = itemComponent('MySurvey', {
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

export const SurveyFormSchema = component('SurveyForm', {
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

export const SurveySubmitBody = object({
  responses: Type.Record(
    Key,
    object({
      new_value: Type.Optional(Type.Unknown({ description: 'Null clears' })),
      confirmed: Type.Optional(Type.Boolean({ description: 'Whether the current value is correct' })),
      current_value: Type.Optional(
        Type.Unknown({ description: 'The value that you saw: refused with `conflict` if it has changed' }),
      ),
    }),
    { maxProperties: 200, description: 'By the key of the field; omitted fields have no answer' },
  ),
});
export const SurveySubmittedSchema = component('SurveySubmitted', {
  status: Type.Literal('completed'),
  response_id: Uuid,
});
