import {
  type AssessmentInput,
  assessmentSorts,
  changeAssessment,
  createAssessment,
  deleteAssessment,
  listAssessments,
} from '../../../domain/modelling/bpm/assessments.ts';
import { listTemplates, readTemplate } from '../../../domain/modelling/bpm/templates.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/bpm.assessments.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const tag = 'Processes';
const base = '/api/v1/bpm/processes/:process_id/assessments';
const assessment = schemas.AssessmentSchema;
const idsOf = (params: { process_id: string; assessment_id: string }) => ({
  process: params.process_id,
  assessment: params.assessment_id,
});

/** Assessments of processes, and process templates. */
export function registerProcessAssessmentRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Processes' });
  const assessing = routesOf(app, {
    tag,
    module: 'bpm',
    permission: 'bpm.assessments',
    permissionNote: 'inventory.view to read',
  });

  assessing.get(base, {
    id: 'listProcessAssessments',
    summary: 'List the assessments of a process',
    query: listQuery(assessmentSorts, 'assessment_date', {}),
    answers: page('Assessments, the latest first', schemas.AssessmentItemSchema),
    handler: ({ ctx, params, query }) => listAssessments(ctx, params.process_id, query),
  });

  assessing.post(base, {
    id: 'createProcessAssessment',
    summary: 'Assess a process',
    description: 'Scores outside the scale of 1 to 5 become 1 or 5.',
    body: schemas.AssessmentCreateBody,

    answers: created('The assessment', assessment),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => createAssessment(ctx, params.process_id, body as AssessmentInput),
  });

  assessing.put('/api/v1/bpm/processes/:process_id/assessments/:assessment_id', {
    id: 'changeProcessAssessment',
    summary: 'Change an assessment',
    description: 'Absent members do not change. The date and the assessor never change.',
    body: schemas.AssessmentUpdateBody,

    headers: ['If-Match'],
    answers: ok('The assessment', assessment, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => changeAssessment(ctx, idsOf(params), body as AssessmentInput),
  });

  assessing.delete('/api/v1/bpm/processes/:process_id/assessments/:assessment_id', {
    id: 'deleteProcessAssessment',
    summary: 'Delete an assessment',
    headers: ['If-Match'],
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteAssessment(ctx, idsOf(params)),
  });

  routes.get('/api/v1/bpm/templates', {
    module: 'bpm',
    permission: 'login',
    id: 'listProcessTemplates',
    summary: 'List templates of models',
    query: listQuery(schemas.templateSorts, 'place', {}),
    answers: page('Templates', schemas.TemplateItemSchema),
    handler: ({ ctx, query }) => listTemplates(ctx, query),
  });

  routes.get('/api/v1/bpm/templates/:template_key', {
    module: 'bpm',
    permission: 'login',
    id: 'getProcessTemplate',
    summary: 'Read a template of a model',
    params: schemas.TemplateParams,
    answers: ok('The template', schemas.TemplateSchema),
    handler: async ({ params }) => readTemplate(params.template_key),
  });
}
