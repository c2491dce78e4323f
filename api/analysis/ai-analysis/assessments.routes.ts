import Type from 'typebox';
import { SessionData } from '../../../domain/analysis/architect/architect.input.ts';
import {
  Assessment,
  type AssessmentInput,
  assessmentList,
  assessmentText,
  createAssessment,
  deleteAssessment,
  patchAssessment,
} from '../../../domain/analysis/assessments/assessments.commands.ts';
import {
  CommittedSchema,
  commitAssessment,
} from '../../../domain/analysis/assessments/assessments.commit.ts';
import { CommitBody } from '../../../domain/analysis/assessments/assessments.plan.ts';
import { component, Nullable, NullableText, object, partialObject } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const { title, requirement, session_data } = Assessment.columns;

const AssessmentCreateBody = object({ title, requirement, sessionData: SessionData });
const AssessmentPatchBody = partialObject({
  title: title,
  requirement: requirement,
  sessionData: SessionData,
});

const AssessmentSchema = component('Assessment', {
  ...Assessment.columns,
  session_data: Nullable(session_data),
  initiative_name: NullableText('Null if you do not see the initiative'),
  created_by_name: Nullable(Type.String()),
});

const url = '/api/v1/ai-analysis/assessments';

const answer = { description: 'The session', schema: AssessmentSchema };

/** Stored sessions about a target architecture, which can be changed until they are committed. */
export function registerAssessmentRoutes(app: App): void {
  const routes = routesOf(app, {
    tag: 'Target architecture',
    module: 'ai_analysis',
    permission: 'ai_analysis.manage',
  });

  routes.list('listAssessments', url, assessmentList, {
    summary: 'List saved sessions, newest first',
    description: 'Without their contents: `session_data` and `decision_draft` are null here.',
    permission: 'ai_analysis.view',
    responses: page('Sessions', AssessmentSchema),
  });

  routes.post('createAssessment', url, {
    summary: 'Save a session',
    body: AssessmentCreateBody,
    responses: { 201: { ...answer, headers: ['ETag'] } },
    handler: ({ ctx, body }) => createAssessment(ctx, body as AssessmentInput),
  });

  routes.get('readAssessment', '/api/v1/ai-analysis/assessments/:assessment_id', {
    summary: 'Read a session',
    description: 'Without costs unless you have `costs.view`.',
    permission: 'ai_analysis.view',
    headers: ['If-None-Match'],
    responses: { 200: { ...answer, headers: ['ETag'] } },
    handler: ({ ctx, params }) => assessmentText(ctx.db, ctx, params.assessment_id),
  });

  routes.patch('patchAssessment', '/api/v1/ai-analysis/assessments/:assessment_id', {
    summary: 'Change a session that is not committed',
    description: '`sessionData` replaces the stored data.',
    body: AssessmentPatchBody,
    errors: ['wrong_state'],
    responses: { 200: answer },
    handler: ({ ctx, params, body }) => patchAssessment(ctx, params.assessment_id, body as AssessmentInput),
  });

  routes.delete('deleteAssessment', '/api/v1/ai-analysis/assessments/:assessment_id', {
    summary: 'Delete a session',
    description: 'The initiative that was created from it remains.',
    ifMatch: true,
    handler: ({ ctx, params }) => deleteAssessment(ctx, params.assessment_id),
  });

  routes.post('commitAssessment', '/api/v1/ai-analysis/architect/commit', {
    summary: 'Commit a session',
    description:
      'Creates an initiative, the chosen cards and relations of the session’s `architecture`, and the draft of a decision, all or nothing in one mutation batch. New cards are planned from `startDate` and active from `endDate`, when retired ones reach their end of life. A rollback of the batch makes it an uncommitted session again.',
    permissionNote:
      'inventory.create; relations.manage; adr.manage; inventory.edit or card.edit on the chosen existing cards',
    body: CommitBody,
    ifMatch: true,
    errors: ['cardinality_exceeded', 'duplicate_relation', 'not_found', 'sibling_name_taken', 'wrong_state'],
    responses: ok('The created objects', CommittedSchema),
    handler: ({ ctx, body }) => commitAssessment(ctx, body),
  });
}
