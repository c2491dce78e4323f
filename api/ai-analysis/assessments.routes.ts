import Type from 'typebox';
import {
  type AssessmentInput,
  createAssessment,
  deleteAssessment,
  patchAssessment,
} from '../../domain/analysis/assessments/assessments.commands.ts';
import { CommittedSchema, commitAssessment } from '../../domain/analysis/assessments/assessments.commit.ts';
import {
  assessmentFilters,
  assessmentSorts,
  assessmentText,
  listAssessments,
} from '../../domain/analysis/assessments/assessments.list.ts';
import { CommitBody } from '../../domain/analysis/assessments/assessments.plan.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/assessments.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const url = '/api/v1/ai-analysis/assessments';
const group = { tag: 'Target architecture', module: 'ai_analysis' } as const;
const AssessmentParams = Type.Object({ assessment_id: Uuid }, closed);
const answer = { description: 'The session', schema: Type.Ref('Assessment#') };

/** Sessions about a target architecture, kept and changed until they are carried out. */
export function registerAssessmentRoutes(app: App): void {
  app.addSchema(schemas.AssessmentSchema);
  app.addSchema(schemas.AssessmentItemSchema);
  app.addSchema(CommittedSchema);

  operation(app, {
    ...group,
    method: 'GET',
    url,
    id: 'listAssessments',
    summary: 'List saved sessions, newest first',
    description: 'Without their contents: `session_data` and `decision_draft` are null here.',
    permission: 'ai_analysis.view',
    query: listQuery(assessmentSorts, 'created_at, newest first', assessmentFilters),
    answers: { 200: { description: 'Sessions', schema: listAnswer(Type.Ref('AssessmentItem#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listAssessments(ctx, query)),
  });

  operation(app, {
    ...group,
    method: 'POST',
    url,
    id: 'createAssessment',
    summary: 'Save a session',
    permission: 'ai_analysis.manage',
    body: schemas.AssessmentCreateBody,
    bodyExample: {
      title: 'Order handling',
      requirement: 'One way to take orders in all regions',
      sessionData: { phase: 1 },
    },
    answers: { 201: { ...answer, headers: ['ETag'] } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createAssessment(ctx, body as AssessmentInput)),
  });

  operation(app, {
    ...group,
    method: 'GET',
    url: `${url}/:assessment_id`,
    id: 'readAssessment',
    summary: 'Read a session',
    description: 'Without costs unless you hold `costs.view`.',
    permission: 'ai_analysis.view',
    params: AssessmentParams,
    headers: ['If-None-Match'],
    answers: { 200: { ...answer, headers: ['ETag'] } },
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply, await assessmentText(ctx.db, ctx, params.assessment_id)),
  });

  operation(app, {
    ...group,
    method: 'PATCH',
    url: `${url}/:assessment_id`,
    id: 'patchAssessment',
    summary: 'Change a session that was not carried out yet',
    description: '`sessionData` takes the place of what was kept.',
    permission: 'ai_analysis.manage',
    params: AssessmentParams,
    body: schemas.AssessmentPatchBody,
    bodyExample: { title: 'Order handling in all regions' },
    headers: ['If-Match'],
    errors: ['wrong_state'],
    answers: { 200: answer },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchAssessment(ctx, params.assessment_id, body as AssessmentInput)),
  });

  operation(app, {
    ...group,
    method: 'DELETE',
    url: `${url}/:assessment_id`,
    id: 'deleteAssessment',
    summary: 'Delete a session',
    description: 'The initiative that it was carried out as stays.',
    permission: 'ai_analysis.manage',
    params: AssessmentParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteAssessment(ctx, params.assessment_id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    ...group,
    method: 'POST',
    url: '/api/v1/ai-analysis/architect/commit',
    id: 'commitAssessment',
    summary: 'Carry a session out',
    description:
      'Makes an initiative, the chosen cards and relations of the `architecture` that the session keeps, and the draft of a decision, all or nothing in one mutation batch. New cards are planned from `startDate` and active from `endDate`; retired ones end by then. Rolling the batch back makes it a saved session again.',
    permission: 'ai_analysis.manage',
    permissionNote:
      'inventory.create; relations.manage; adr.manage; inventory.edit or card.edit on the stored cards that are chosen',
    body: CommitBody,
    bodyExample: schemas.commitExample,
    headers: ['If-Match'],
    errors: ['cardinality_exceeded', 'duplicate_relation', 'not_found', 'sibling_name_taken', 'wrong_state'],
    answers: { 200: { description: 'What it was carried out as', schema: Type.Ref('CommittedAssessment#') } },
    handler: async ({ ctx, body }) => await commitAssessment(ctx, body),
  });
}
