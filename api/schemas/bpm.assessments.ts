import Type from 'typebox';
import { closed, DateOnly, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { ActionItems } from '../../domain/modelling/bpm/bpm.input.ts';

export const AssessmentParams = Type.Object({ process_id: Uuid, assessment_id: Uuid }, closed);
export const TemplateParams = Type.Object(
  { template_key: Type.String({ minLength: 1, maxLength: 100 }) },
  closed,
);

const Score = Type.Integer({
  minimum: -1_000_000,
  maximum: 1_000_000,
  description: 'From 1 to 5: what lies beyond becomes 1 or 5',
});
const Notes = Type.Optional(Nullable(Type.String({ maxLength: 10_000 })));
export const AssessmentCreateBody = Type.Object(
  {
    assessment_date: DateOnly,
    overall_score: Score,
    efficiency: Score,
    effectiveness: Score,
    compliance: Score,
    automation: Score,
    notes: Notes,
    action_items: Type.Optional(Nullable(ActionItems)),
  },
  closed,
);
export const assessmentExample = {
  assessment_date: '2026-03-31',
  overall_score: 3,
  efficiency: 3,
  effectiveness: 4,
  compliance: 4,
  automation: 2,
  notes: 'Invoices are still typed by hand.',
  action_items: [{ text: 'Read invoices by machine', due: '2026-09-30' }],
};
const Changed = Type.Optional(Score);
export const AssessmentUpdateBody = Type.Object(
  {
    overall_score: Changed,
    efficiency: Changed,
    effectiveness: Changed,
    compliance: Changed,
    automation: Changed,
    notes: Notes,
    action_items: Type.Optional(Nullable(ActionItems)),
  },
  closed,
);
const Scored = Type.Integer({ minimum: 1, maximum: 5 });
const assessment = {
  id: Uuid,
  process_id: Uuid,
  assessor_id: Nullable(Uuid),
  assessor_name: Nullable(Type.String()),
  assessment_date: DateOnly,
  overall_score: Scored,
  efficiency: Scored,
  effectiveness: Scored,
  compliance: Scored,
  automation: Scored,
  notes: Nullable(Type.String()),
  action_items: Type.Array(OpenObject),
  created_at: Timestamp,
};
export const AssessmentSchema = Type.Object(assessment, { $id: 'ProcessAssessment', ...closed });
export const AssessmentItemSchema = Type.Partial(Type.Object(assessment), {
  $id: 'ProcessAssessmentItem',
  ...closed,
});
export const assessmentSorts = ['assessment_date', 'created_at', 'overall_score'];

const template = {
  key: Type.String(),
  name: Type.String(),
  description: Type.String(),
  category: Type.Union(['General', 'Enterprise', 'HR', 'ITIL'].map((name) => Type.Literal(name))),
};
export const TemplateItemSchema = Type.Partial(Type.Object(template), {
  $id: 'ProcessTemplateItem',
  ...closed,
});
export const TemplateSchema = Type.Object(
  { ...template, bpmn_xml: Type.String({ description: 'BPMN 2.0 with its drawing' }) },
  { $id: 'ProcessTemplate', ...closed },
);
export const templateSorts = ['place', 'name', 'category'];
