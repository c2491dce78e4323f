import Type from 'typebox';
import {
  type AssessmentInput,
  assessmentSorts,
  changeAssessment,
  createAssessment,
  deleteAssessment,
  listAssessments,
} from '../../domain/modelling/bpm/assessments.ts';
import { listTemplates, readTemplate } from '../../domain/modelling/bpm/templates.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/bpm.assessments.ts';
import { ProcessParams } from '../schemas/bpm.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Processes';
const assessing = {
  tag,
  module: 'bpm',
  permission: 'bpm.assessments',
  permissionNote: 'inventory.view to read',
} as const;
const base = '/api/v1/bpm/processes/:process_id/assessments';
const assessment = Type.Ref('ProcessAssessment#');
const idsOf = (params: { process_id: string; assessment_id: string }) => ({
  process: params.process_id,
  assessment: params.assessment_id,
});

/** Assessments of processes, and templates of models. */
export function registerProcessAssessmentRoutes(app: App): void {
  for (const schema of [
    schemas.AssessmentSchema,
    schemas.AssessmentItemSchema,
    schemas.TemplateItemSchema,
    schemas.TemplateSchema,
  ])
    app.addSchema(schema);

  operation(app, {
    ...assessing,
    method: 'GET',
    url: base,
    id: 'listProcessAssessments',
    summary: 'List the assessments of a process',
    params: ProcessParams,
    query: listQuery(assessmentSorts, 'assessment_date', {}),
    answers: {
      200: {
        description: 'Assessments, the latest first',
        schema: listAnswer(Type.Ref('ProcessAssessmentItem#')),
      },
    },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listAssessments(ctx, params.process_id, query)),
  });

  operation(app, {
    ...assessing,
    method: 'POST',
    url: base,
    id: 'createProcessAssessment',
    summary: 'Assess a process',
    description: 'Scores outside the scale of 1 to 5 become 1 or 5.',
    params: ProcessParams,
    body: schemas.AssessmentCreateBody,
    bodyExample: schemas.assessmentExample,
    answers: { 201: { description: 'The assessment', schema: assessment, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) => {
      const text = await createAssessment(ctx, params.process_id, body as AssessmentInput);
      return sendResource(reply.code(201), text);
    },
  });

  operation(app, {
    ...assessing,
    method: 'PUT',
    url: `${base}/:assessment_id`,
    id: 'changeProcessAssessment',
    summary: 'Change an assessment',
    description: 'Absent members stay unchanged. The date and the assessor never change.',
    params: schemas.AssessmentParams,
    body: schemas.AssessmentUpdateBody,
    bodyExample: { overall_score: 4, notes: null },
    headers: ['If-Match'],
    answers: { 200: { description: 'The assessment', schema: assessment, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await changeAssessment(ctx, idsOf(params), body as AssessmentInput)),
  });

  operation(app, {
    ...assessing,
    method: 'DELETE',
    url: `${base}/:assessment_id`,
    id: 'deleteProcessAssessment',
    summary: 'Delete an assessment',
    params: schemas.AssessmentParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      await deleteAssessment(ctx, idsOf(params));
      return reply.code(204).send();
    },
  });

  operation(app, {
    tag,
    module: 'bpm',
    permission: 'login',
    method: 'GET',
    url: '/api/v1/bpm/templates',
    id: 'listProcessTemplates',
    summary: 'List templates of models',
    query: listQuery(schemas.templateSorts, 'place', {}),
    answers: { 200: { description: 'Templates', schema: listAnswer(Type.Ref('ProcessTemplateItem#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listTemplates(ctx, query)),
  });

  operation(app, {
    tag,
    module: 'bpm',
    permission: 'login',
    method: 'GET',
    url: '/api/v1/bpm/templates/:template_key',
    id: 'getProcessTemplate',
    summary: 'Read a template of a model',
    params: schemas.TemplateParams,
    answers: { 200: { description: 'The template', schema: Type.Ref('ProcessTemplate#') } },
    handler: async ({ params }) => readTemplate(params.template_key),
  });
}
