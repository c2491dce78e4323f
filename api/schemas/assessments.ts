import Type from 'typebox';
import { SessionData } from '../../domain/analysis/architect/architect.input.ts';
import { Assessment } from '../../domain/analysis/assessments/assessments.model.ts';
import { closed, component, Nullable, object } from '../../domain/kernel/shapes.ts';

const { title, requirement, session_data } = Assessment.columns;

export const AssessmentCreateBody = object({ title, requirement, sessionData: SessionData });
export const AssessmentPatchBody = object({
  title: Type.Optional(title),
  requirement: Type.Optional(requirement),
  sessionData: Type.Optional(SessionData),
});

export const AssessmentSchema = component('Assessment', {
  ...Assessment.columns,
  session_data: Nullable(session_data),
  initiative_name: Nullable(Type.String({ description: 'Null if you do not see the initiative' })),
  created_by_name: Nullable(Type.String()),
});
/** An assessment in a list, with the requested members. */
export const AssessmentItemSchema = Type.Partial(AssessmentSchema, { $id: 'AssessmentItem', ...closed });
