import Type from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';
import {
  type Answer,
  responseStatuses,
  type SurveyField,
  surveyStatuses,
  type TargetFilters,
} from './surveys.types.ts';

export class Survey extends rowModel(
  'surveys',
  {
    id: Uuid,
    name: Type.String({ minLength: 1, maxLength: 200 }),
    description: Nullable(Type.String({ maxLength: 10_000 })),
    message: Type.String({ maxLength: 10_000, description: 'Shown to the respondents' }),
    status: Choice(surveyStatuses),
    target_type_key: Type.String({ minLength: 1, maxLength: 100 }),
    target_filters: Type.Unsafe<TargetFilters>(OpenObject),
    target_roles: Type.Array(Type.String()),
    /** As they were when the survey was saved or, once sent, when it was sent. */
    fields: Type.Unsafe<SurveyField[]>(Type.Array(OpenObject)),
    created_by: Nullable(Uuid),
    sent_at: Nullable(Timestamp),
    closed_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  ['target_filters', 'target_roles', 'fields'],
) {}
export type SurveyRow = RowOf<typeof Survey>;

/** The request to one user to answer a survey about one card, and the answer. */
export class SurveyResponse extends rowModel(
  'survey_responses',
  {
    id: Uuid,
    survey_id: Uuid,
    card_id: Uuid,
    user_id: Uuid,
    status: Choice(responseStatuses),
    /** By the key of the field. */
    responses: Type.Unsafe<Record<string, Answer>>(OpenObject),
    /** The fields that were costs when the answer was given. */
    cost_keys: Type.Array(Type.String()),
    applied: Type.Boolean(),
    responded_at: Nullable(Timestamp),
    applied_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  ['responses'],
) {}
export type ResponseRow = RowOf<typeof SurveyResponse>;
