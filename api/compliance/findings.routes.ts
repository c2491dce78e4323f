import Type, { type TSchema } from 'typebox';
import type { FindingContent } from '../../domain/governance/compliance/compliance.model.ts';
import {
  createFinding,
  deleteFinding,
  patchFinding,
} from '../../domain/governance/compliance/findings.commands.ts';
import {
  type DecisionInput,
  decideFinding,
  decideFindings,
  deleteFindings,
} from '../../domain/governance/compliance/findings.decide.ts';
import {
  cardFindingFilters,
  findingFilters,
  findingSorts,
  listCardFindings,
  listFindings,
  readFinding,
} from '../../domain/governance/compliance/findings.list.ts';
import { giveVerdict } from '../../domain/governance/compliance/findings.verdict.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/compliance.ts';
import type { App } from '../types.ts';

const reading = {
  tag: 'Compliance',
  module: 'grc',
  permission: 'compliance.view',
  permissionNote: 'grc.view',
} as const;
const maintaining = {
  tag: 'Compliance',
  module: 'grc',
  permission: 'compliance.manage',
  permissionNote: 'grc.manage',
} as const;
const Params = Type.Object({ finding_id: Uuid }, closed);
const finding = Type.Ref('ComplianceFinding#');
const listed = listAnswer(Type.Ref('ComplianceFindingItem#'));

/** Findings about regulations: read, written by hand, decided about. */
export function registerFindingRoutes(app: App): void {
  const shared: TSchema[] = [schemas.FindingSchema, schemas.FindingItemSchema, schemas.BulkResultSchema];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/compliance/findings',
    id: 'listComplianceFindings',
    summary: 'List findings about regulations',
    description:
      'Those that stand: not resolved by a scan and on no archived card. With `sort_by=severity` the gravest come first when they ascend.',
    query: listQuery(findingSorts, 'created_at', findingFilters),
    answers: { 200: { description: 'Findings, newest first', schema: listed } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listFindings(ctx, query)),
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/cards/:card_id/compliance-findings',
    id: 'listCardComplianceFindings',
    summary: 'List the findings on a card',
    params: Type.Object({ card_id: Uuid }, closed),
    query: listQuery(findingSorts, 'created_at', cardFindingFilters),
    answers: { 200: { description: 'Findings, newest first', schema: listed } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listCardFindings(ctx, params.card_id, query)),
  });

  operation(app, {
    ...maintaining,
    method: 'POST',
    url: '/api/v1/compliance/findings',
    id: 'createComplianceFinding',
    summary: 'Write a finding by hand',
    body: schemas.FindingCreateBody,
    bodyExample: {
      regulation: 'gdpr',
      regulation_article: 'Art. 30',
      requirement: 'A record of processing activities is kept.',
      status: 'partial',
      severity: 'medium',
      gap_description: 'The record lacks the retention periods.',
    },
    answers: { 201: { description: 'The finding', schema: finding, headers: ['ETag'] } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createFinding(ctx, body as Partial<FindingContent>)),
  });

  operation(app, {
    ...maintaining,
    method: 'PATCH',
    url: '/api/v1/compliance/findings/bulk',
    id: 'decideComplianceFindings',
    summary: 'Decide about many findings',
    description: 'Findings that may not take the decision are left as they are, and told under `skipped`.',
    body: schemas.BulkDecisionBody,
    answers: { 200: { description: 'What was decided', schema: Type.Ref('ComplianceBulkResult#') } },
    handler: async ({ ctx, body: { ids, ...input } }) =>
      await decideFindings(ctx, ids, input as DecisionInput),
  });

  operation(app, {
    ...maintaining,
    method: 'DELETE',
    url: '/api/v1/compliance/findings/bulk',
    id: 'deleteComplianceFindings',
    summary: 'Delete many findings',
    description: 'The next scan finds anew what is still there. Findings that a risk tracks are skipped.',
    body: schemas.BulkDeleteBody,
    answers: { 200: { description: 'What was deleted', schema: Type.Ref('ComplianceBulkResult#') } },
    handler: async ({ ctx, body }) => await deleteFindings(ctx, body.ids),
  });

  registerSingleFindingRoutes(app);
}

/** One finding. */
function registerSingleFindingRoutes(app: App): void {
  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/compliance/findings/:finding_id',
    id: 'getComplianceFinding',
    summary: 'Read a finding',
    params: Params,
    answers: { 200: { description: 'The finding', schema: finding } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readFinding(ctx, params.finding_id)),
  });

  operation(app, {
    ...maintaining,
    method: 'PATCH',
    url: '/api/v1/compliance/findings/:finding_id',
    id: 'decideComplianceFinding',
    summary: 'Decide about a finding',
    description:
      'From `new` to `in_review`, `accepted` or `not_applicable`; from `in_review` to `mitigated`, `accepted`, `not_applicable` or `new`; from `mitigated` to `verified` or `in_review`; from `verified`, `accepted` and `not_applicable` back to `in_review`. A refusal names what is `allowed`.',
    params: Params,
    body: schemas.DecisionBody,
    bodyExample: { decision: 'in_review', review_note: 'Asked the owner.' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The finding', schema: finding } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await decideFinding(ctx, params.finding_id, body as DecisionInput)),
  });

  operation(app, {
    ...maintaining,
    method: 'DELETE',
    url: '/api/v1/compliance/findings/:finding_id',
    id: 'deleteComplianceFinding',
    summary: 'Delete a finding',
    description: 'The next scan finds anew what is still there.',
    params: Params,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      await deleteFinding(ctx, params.finding_id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    ...maintaining,
    method: 'PATCH',
    url: '/api/v1/compliance/findings/:finding_id/details',
    id: 'patchComplianceFinding',
    summary: 'Change what a finding says',
    description:
      'Later scans leave what was written by hand. What a rule has found stays with its card and its regulation.',
    params: Params,
    body: schemas.FindingPatchBody,
    bodyExample: { severity: 'low', remediation: 'Name an owner.' },
    headers: ['If-Match'],
    answers: { 200: { description: 'The finding', schema: finding } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchFinding(ctx, params.finding_id, body as Partial<FindingContent>)),
  });

  operation(app, {
    ...maintaining,
    method: 'POST',
    url: '/api/v1/compliance/findings/:finding_id/ai-verdict',
    id: 'giveComplianceAiVerdict',
    summary: 'Confirm or deny that the finding’s card uses AI',
    description:
      'Writes `hasAiFeatures` on the card as a change of the card by hand does; the findings follow with the next scan.',
    permissionNote: 'grc.manage; inventory.edit or card.edit on the card',
    params: Params,
    body: schemas.VerdictBody,
    headers: ['If-Match'],
    answers: { 200: { description: 'The finding', schema: finding } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await giveVerdict(ctx, params.finding_id, body.verdict as 'confirm' | 'deny')),
  });
}
