import Type, { type Static } from 'typebox';
import type { FieldType } from '../../kernel/metamodel/metamodel.types.ts';
import { Internal, type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import {
  Choice,
  closed,
  itemsUpTo,
  Key,
  Nullable,
  OpenObject,
  OptionalText,
  object,
  type StaticOf,
  Timestamp,
  Uuid,
} from '../../kernel/shapes.ts';

export const surveyStatuses = ['draft', 'active', 'closed'] as const;
export const responseStatuses = ['pending', 'completed'] as const;

/** Whether the value is to be maintained or confirmed; both accept a new value. */
const SurveyActionName = Choice(['maintain', 'confirm']);
export type SurveyAction = Static<typeof SurveyActionName>;
/** The members of a field of a survey, as the card type declared it when the survey was saved or sent. */
export const surveyField = {
  key: Type.String(),
  label: Type.String(),
  type: Type.Unsafe<FieldType | 'relation'>(Type.String()),
  section: Type.String(),
  action: SurveyActionName,
  options: Type.Optional(Type.Array(object({ key: Type.String(), label: Type.String() }))),
  relation: Type.Optional(
    object(
      {
        type: Type.String(),
        direction: Choice(['outgoing', 'incoming'], 'Whether the card is the source'),
        other_type_key: Type.String(),
      },
      { description: 'Of a question about relations, whose values are lists of ids of cards' },
    ),
  ),
  translations: Type.Optional(OpenObject),
};
export type SurveyField = StaticOf<typeof surveyField>;

/** The answer about one field; `confirmed`: the current value is correct. */
const AnswerSchema = object({
  current_value: Type.Unknown(),
  new_value: Type.Unknown(),
  confirmed: Type.Boolean(),
});
export const Answers = Type.Record(Type.String(), AnswerSchema, { description: 'By the key of the field' });
export type Answer = Static<typeof AnswerSchema>;

const Ids = (description: string) => Type.Optional(Type.Array(Uuid, { maxItems: 1000, description }));

const AttributeFilterSchema = Type.Object(
  {
    key: Key,
    op: Choice(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'contains', 'is_empty', 'is_not_empty']),
    value: Type.Optional(
      Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean(), Type.Null()], {
        description: 'Left out for is_empty and is_not_empty',
      }),
    ),
  },
  closed,
);

export type AttributeFilter = Static<typeof AttributeFilterSchema>;

/** Selects the cards of a survey; absent and empty members do not filter. */
export const SurveyFilters = Type.Object(
  {
    card_ids: Ids('Only these'),
    tag_ids: Ids('Cards with one of the tags'),
    related_ids: Ids('Cards with a relation to one of these'),
    attribute_filters: Type.Optional(
      Type.Array(AttributeFilterSchema, itemsUpTo(20, 'All of them must hold')),
    ),
    filter: OptionalText(4000, 'In the filter language'),
  },
  { ...closed, description: 'Which active cards of the type are asked about; absent or empty: all' },
);

export type TargetFilters = Static<typeof SurveyFilters>;

/** The key of a question. */
export const QuestionKey = Type.String({
  minLength: 1,
  maxLength: 120,
  description: 'The key of an attribute, or `relations.<relation type>`',
});

const FieldInput = Type.Object(
  {
    key: QuestionKey,
    action: Type.Optional(SurveyActionName),
    label: Type.Optional(Type.String({ maxLength: 500 })),
    type: Type.Optional(Key),
    section: Type.Optional(Type.String({ maxLength: 500 })),
    options: Type.Optional(Type.Array(OpenObject, { maxItems: 1000 })),
    relation: Type.Optional(OpenObject),
    translations: Type.Optional(OpenObject),
  },
  { ...closed, description: 'What it says besides key and action is taken from the card type' },
);

/** The questions of a survey. */
export const SurveyFields = Type.Array(FieldInput, { maxItems: 200 });
/** The recipients of a survey. */
export const SurveyRoles = Type.Array(Key, itemsUpTo(100, 'Keys of stakeholder roles of the type'));

export class Survey extends rowModel('surveys', {
  id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Nullable(Type.String({ maxLength: 10_000 })),
  message: Type.String({ maxLength: 10_000, description: 'Shown to the respondents' }),
  status: Choice(surveyStatuses),
  target_type_key: Type.String({ minLength: 1, maxLength: 100 }),
  target_filters: Type.Unsafe<TargetFilters>(OpenObject),
  target_roles: Type.Array(Type.String()),
  /** The fields as declared when the survey was saved or, once sent, when it was sent. */
  fields: Type.Unsafe<SurveyField[]>(Type.Array(OpenObject)),
  created_by: Nullable(Uuid),
  sent_at: Nullable(Timestamp),
  closed_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type SurveyRow = RowOf<typeof Survey>;

/** The request to one user to answer a survey about one card, and the answer. */
export class SurveyResponse extends rowModel('survey_responses', {
  id: Uuid,
  survey_id: Uuid,
  card_id: Uuid,
  user_id: Uuid,
  status: Choice(responseStatuses),
  /** By the key of the field. */
  responses: Type.Unsafe<Record<string, Answer>>(OpenObject),
  /** The fields that were costs when the answer was given. */
  cost_keys: Internal(SqlArray(Type.String())),
  applied: Type.Boolean(),
  responded_at: Nullable(Timestamp),
  applied_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Internal(Timestamp),
}) {}
export type ResponseRow = RowOf<typeof SurveyResponse>;
