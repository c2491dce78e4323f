import Type from 'typebox';
import { Choice, closed, component, itemComponent, Nullable } from '../../../domain/kernel/shapes.ts';
import {
  type AssessmentInput,
  changeAssessment,
  createAssessment,
  deleteAssessment,
  processAssessmentList,
} from '../../../domain/modelling/bpm/assessments.ts';
import { ProcessAssessment } from '../../../domain/modelling/bpm/bpm.model.ts';
import { readTemplate, templateList } from '../../../domain/modelling/bpm/templates.ts';
import { created, ok, page, routeGroup, routesOf } from '../../operation.ts';
import { bodiesOf } from '../../schemas.ts';
import type { App } from '../../types.ts';

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
const AssessmentUpdateBody = Type.Omit(bodies.patch, ['assessment_date'], closed);
const Stored = Type.Integer({ minimum: 1, maximum: 5 });
const assessmentMembers = {
  ...ProcessAssessment.shown.columns,
  overall_score: Stored,
  efficiency: Stored,
  effectiveness: Stored,
  compliance: Stored,
  automation: Stored,
  assessor_name: Nullable(Type.String()),
};
const AssessmentSchema = component('ProcessAssessment', assessmentMembers);

const template = {
  key: Type.String(),
  name: Type.String(),
  description: Type.String(),
  category: Choice(['General', 'Enterprise', 'HR', 'ITIL']),
};
const TemplateItemSchema = itemComponent('ProcessTemplateItem', template);
const TemplateSchema = component('ProcessTemplate', {
  ...template,
  bpmn_xml: Type.String({ description: 'BPMN 2.0 with diagram interchange' }),
});

const tag = 'Processes';
const base = '/api/v1/bpm/processes/:process_id/assessments';
const idsOf = (params: { process_id: string; assessment_id: string }) => ({
  process: params.process_id,
  assessment: params.assessment_id,
});

/** Assessments of processes, and process templates. */
export function registerProcessAssessmentRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Processes', permission: 'login', module: 'bpm' });
  const assessing = routesOf(app, routeGroup(tag, 'bpm', 'bpm.assessments', 'inventory.view to read'));

  assessing.list('listProcessAssessments', base, processAssessmentList, {
    summary: 'List the assessments of a process',
    responses: page('Assessments, the latest first', AssessmentSchema),
  });

  assessing.post('createProcessAssessment', base, {
    summary: 'Assess a process',
    description: 'Scores outside the scale of 1 to 5 become 1 or 5.',
    body: bodies.create,
    responses: created('The assessment', AssessmentSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => createAssessment(ctx, params.process_id, body as AssessmentInput),
  });

  assessing.put('changeProcessAssessment', '/api/v1/bpm/processes/:process_id/assessments/:assessment_id', {
    summary: 'Change an assessment',
    description: 'Absent members do not change. The date and the assessor never change.',
    body: AssessmentUpdateBody,
    ifMatch: true,
    responses: ok('The assessment', AssessmentSchema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => changeAssessment(ctx, idsOf(params), body as AssessmentInput),
  });

  assessing.delete(
    'deleteProcessAssessment',
    '/api/v1/bpm/processes/:process_id/assessments/:assessment_id',
    {
      summary: 'Delete an assessment',
      ifMatch: true,
      errors: ['wrong_state'],
      handler: ({ ctx, params }) => deleteAssessment(ctx, idsOf(params)),
    },
  );

  routes.list('listProcessTemplates', '/api/v1/bpm/templates', templateList, {
    summary: 'List templates of models',
    responses: page('Templates', TemplateItemSchema),
  });

  routes.get('getProcessTemplate', '/api/v1/bpm/templates/:template_key', {
    summary: 'Read a template of a model',
    responses: ok('The template', TemplateSchema),
    handler: async ({ params }) => readTemplate(params.template_key),
  });
}
