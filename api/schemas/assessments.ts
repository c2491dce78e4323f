import Type from 'typebox';
import { SessionData } from './architect.ts';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from './common.ts';

const Title = Type.String({ minLength: 1, maxLength: 200 });
const Requirement = Type.String({ minLength: 1, maxLength: 20_000 });
export const AssessmentStatus = Type.Union([Type.Literal('saved'), Type.Literal('committed')]);

export const AssessmentCreateBody = Type.Object(
  { title: Title, requirement: Requirement, sessionData: SessionData },
  closed,
);
export const AssessmentPatchBody = Type.Object(
  {
    title: Type.Optional(Title),
    requirement: Type.Optional(Requirement),
    sessionData: Type.Optional(SessionData),
  },
  closed,
);

export const AssessmentSchema = Type.Object(
  {
    id: Uuid,
    title: Type.String(),
    requirement: Type.String(),
    status: AssessmentStatus,
    initiative_id: Nullable(Uuid),
    initiative_name: Nullable(Type.String({ description: 'Null also where you do not see the initiative' })),
    created_by: Nullable(Uuid),
    created_by_name: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    session_data: Nullable(OpenObject),
    decision_draft: Nullable(Type.String({ description: 'Markdown; set when it was committed' })),
  },
  { $id: 'Assessment', ...closed },
);
/** An assessment in a list, cut to the members that were asked for. */
export const AssessmentItemSchema = Type.Partial(AssessmentSchema, { $id: 'AssessmentItem', ...closed });
