import Type from 'typebox';
import {
  SurveyActionName,
  SurveyFields,
  SurveyFilters,
  SurveyRoles,
} from '../../domain/governance/surveys/surveys.input.ts';
import { closed, Key, Nullable, OpenObject, oneOf, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Count = Type.Integer({ minimum: 0 });

const SurveyState = oneOf('draft', 'active', 'closed');
export const SurveyFilter = Type.Optional(
  Type.Union(SurveyState.anyOf, { description: 'Only those in this state' }),
);
const ResponseState = oneOf('pending', 'completed');
export const ResponseFilter = Type.Optional(
  Type.Union(ResponseState.anyOf, { description: 'Only those that wait, or that were answered' }),
);

const members = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 10_000 }))),
  message: Type.Optional(Type.String({ maxLength: 10_000, description: 'Shown to those who are asked' })),
  target_filters: Type.Optional(Nullable(SurveyFilters)),
  target_roles: Type.Optional(Nullable(SurveyRoles)),
  fields: Type.Optional(Nullable(SurveyFields)),
};
export const SurveyCreateBody = Type.Object({ name: Name, target_type_key: Key, ...members }, closed);
export const SurveyPatchBody = Type.Object(
  { name: Type.Optional(Name), target_type_key: Type.Optional(Key), ...members },
  closed,
);

const field = {
  key: Type.String(),
  label: Type.String(),
  type: Type.String(),
  section: Type.String(),
  action: SurveyActionName,
  options: Type.Optional(Type.Array(Type.Object({ key: Type.String(), label: Type.String() }, closed))),
  translations: Type.Optional(OpenObject),
};

const survey = {
  id: Uuid,
  name: Type.String(),
  description: Nullable(Type.String()),
  message: Type.String(),
  status: SurveyState,
  target_type_key: Type.String(),
  target_filters: OpenObject,
  target_roles: Type.Array(Type.String()),
  fields: Type.Array(Type.Object(field, closed)),
  created_by: Nullable(Uuid),
  creator_name: Nullable(Type.String()),
  sent_at: Nullable(Timestamp),
  closed_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
  total_responses: Count,
  completed_responses: Count,
  applied_responses: Count,
};
export const SurveySchema = Type.Object(survey, { $id: 'Survey', ...closed });
/** A survey in a list, cut to the members that were asked for. */
export const SurveyItemSchema = Type.Partial(Type.Object(survey), { $id: 'SurveyItem', ...closed });
export const SentSurveySchema = Type.Object(
  {
    ...survey,
    targets_created: Type.Integer({ minimum: 1, description: 'Questions put: one per card and user' }),
  },
  { $id: 'SentSurvey', ...closed },
);

export const PreviewQuery = Type.Object(
  {
    page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: 'From 1' }),
    page_size: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Cards on a page' }),
  },
  closed,
);
export const SurveyPreviewSchema = Type.Object(
  {
    total_cards: Count,
    total_users: Count,
    page: Type.Integer({ minimum: 1 }),
    page_size: Type.Integer({ minimum: 1 }),
    targets: Type.Array(
      Type.Object(
        {
          card_id: Uuid,
          card_name: Type.String(),
          card_type: Type.String(),
          users: Type.Array(
            Type.Object(
              { user_id: Uuid, display_name: Type.String(), email: Type.String(), role: Type.String() },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
  },
  { $id: 'SurveyPreview', ...closed },
);

const Answer = Type.Object(
  { current_value: Type.Unknown(), new_value: Type.Unknown(), confirmed: Type.Boolean() },
  closed,
);
const Answers = Type.Record(Type.String(), Answer, { description: 'By the key of the field' });

export const SurveyResponseSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    survey_id: Uuid,
    card_id: Uuid,
    card_name: Type.String(),
    card_type: Type.String(),
    user_id: Uuid,
    user_display_name: Nullable(Type.String({ description: 'Null when the user was deleted' })),
    user_email: Nullable(Type.String()),
    status: ResponseState,
    responses: Answers,
    applied: Type.Boolean(),
    responded_at: Nullable(Timestamp),
    applied_at: Nullable(Timestamp),
    created_at: Timestamp,
  }),
  { $id: 'SurveyResponse', ...closed },
);

export const SurveyApplyBody = Type.Object(
  {
    response_ids: Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: 'Repeated ones count once' }),
    dry_run: Type.Boolean({ default: false, description: 'Answers the same and writes nothing' }),
  },
  closed,
);
export const SurveyAppliedSchema = Type.Object(
  {
    dry_run: Type.Boolean(),
    applied: Count,
    errors: Type.Array(
      Type.Object(
        {
          response_id: Uuid,
          card_id: Nullable(Uuid),
          code: oneOf(
            'not_found',
            'not_completed',
            'already_applied',
            'card_hidden',
            'card_archived',
            'changed_since',
            'value_does_not_fit',
          ),
          message: Type.String(),
          fields: Type.Array(Type.String(), { description: 'Keys of the fields in the way' }),
        },
        closed,
      ),
    ),
  },
  { $id: 'SurveyApplied', ...closed },
);

export const MySurveySchema = Type.Partial(
  Type.Object({
    survey_id: Uuid,
    survey_name: Type.String(),
    survey_message: Type.String(),
    survey_status: SurveyState,
    target_type_key: Type.String(),
    pending_count: Count,
    items: Type.Array(Type.Object({ response_id: Uuid, card_id: Uuid, card_name: Type.String() }, closed), {
      description: 'The first 500 by name',
    }),
  }),
  { $id: 'MySurvey', ...closed },
);

export const SurveyFormSchema = Type.Object(
  {
    response_id: Uuid,
    response_status: ResponseState,
    survey: Type.Object({ id: Uuid, name: Type.String(), message: Type.String() }, closed),
    card: Type.Object(
      {
        id: Uuid,
        name: Type.String(),
        type: Type.String(),
        subtype: Nullable(Type.String()),
        type_translations: OpenObject,
        subtype_translations: OpenObject,
      },
      closed,
    ),
    fields: Type.Array(Type.Object({ ...field, current_value: Type.Unknown() }, closed)),
    existing_responses: Answers,
  },
  { $id: 'SurveyForm', ...closed },
);

export const SurveySubmitBody = Type.Object(
  {
    responses: Type.Record(
      Key,
      Type.Object(
        {
          new_value: Type.Optional(Type.Unknown({ description: 'Null clears' })),
          confirmed: Type.Optional(Type.Boolean({ description: 'The present value is right; no new one' })),
          current_value: Type.Optional(
            Type.Unknown({ description: 'What you saw: refused with `conflict` when it is no longer so' }),
          ),
        },
        closed,
      ),
      { maxProperties: 200, description: 'By the key of the field; what is left out is not answered' },
    ),
  },
  closed,
);
export const SurveySubmittedSchema = Type.Object(
  { status: Type.Literal('completed'), response_id: Uuid },
  { $id: 'SurveySubmitted', ...closed },
);
