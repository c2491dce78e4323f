import Type from 'typebox';
import { closed, component, itemComponent, Nullable, object } from '../../domain/kernel/shapes.ts';
import { ProcessAssessment } from '../../domain/modelling/bpm/bpm.model.ts';
import { answersOf, bodiesOf } from './common.ts';

export const TemplateParams = object({ template_key: Type.String({ minLength: 1, maxLength: 100 }) });

const Score = Type.Integer({
  minimum: -1_000_000,
  maximum: 1_000_000,
  description: 'From 1 to 5; lower and higher values become 1 and 5',
});
const { assessment_date, notes, action_items } = ProcessAssessment.columns;
const scores = {
  overall_score: Score,
  efficiency: Score,
  effectiveness: Score,
  compliance: Score,
  automation: Score,
};
const bodies = bodiesOf({ assessment_date, ...scores }, { notes, action_items: Nullable(action_items) });
export const AssessmentCreateBody = bodies.create;
export const AssessmentUpdateBody = Type.Omit(bodies.patch, ['assessment_date'], closed);
const { updated_at: _internal, ...columns } = ProcessAssessment.columns;
const Stored = Type.Integer({ minimum: 1, maximum: 5 });
const assessment = {
  ...columns,
  overall_score: Stored,
  efficiency: Stored,
  effectiveness: Stored,
  compliance: Stored,
  automation: Stored,
  assessor_name: Nullable(Type.String()),
};
const answers = answersOf('ProcessAssessment', assessment);
export const AssessmentSchema = answers.whole;
export const AssessmentItemSchema = answers.item;

const template = {
  key: Type.String(),
  name: Type.String(),
  description: Type.String(),
  category: Type.Union(['General', 'Enterprise', 'HR', 'ITIL'].map((name) => Type.Literal(name))),
};
export const TemplateItemSchema = itemComponent('ProcessTemplateItem', template);
export const TemplateSchema = component('ProcessTemplate', {
  ...template,
  bpmn_xml: Type.String({ description: 'BPMN 2.0 with diagram interchange' }),
});
export const templateSorts = ['place', 'name', 'category'];
