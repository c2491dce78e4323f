import Type from 'typebox';
import {
  decisions,
  type FindingContent,
  findingStatuses,
  severities,
} from '../../../domain/governance/compliance/compliance.model.ts';
import {
  createFinding,
  type DecisionInput,
  decideAiUse,
  decideFinding,
  decideFindings,
  deleteFinding,
  deleteFindings,
  patchFinding,
} from '../../../domain/governance/compliance/findings.commands.ts';
import {
  cardFindingFilters,
  findingFilters,
  findingSorts,
  listCardFindings,
  listFindings,
  readFinding,
} from '../../../domain/governance/compliance/findings.list.ts';
import { Choice, Clearable, component, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { created, ok, routesOf } from '../../operation.ts';
import { bodiesOf, listQuery, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { FindingSchema, Regulation } from './compliance.schemas.ts';

const Status = Choice(findingStatuses);
const Severity = Choice(severities);
const Text = (maxLength: number, minLength = 0) => Type.String({ minLength, maxLength });
const Note = Clearable(Type.String({ maxLength: 10_000, description: 'Required for `accepted`' }));
/** Decisions of persons: `risk_tracked` is set by promotion to a risk. */
const Decided = Choice(
  decisions.filter((decision) => decision !== 'risk_tracked'),
  'Refused with `wrong_state` if the current decision does not allow it',
);

const bodies = bodiesOf(
  { regulation: Regulation, requirement: Text(2000, 1), status: Status, severity: Severity },
  {
    regulation_article: Nullable(Text(200)),
    card_id: Nullable(Uuid),
    category: Text(100),
    gap_description: Text(10_000),
    evidence: Nullable(Text(10_000)),
    remediation: Nullable(Text(10_000)),
  },
);

const DecisionBody = object({ decision: Decided, review_note: Note });
const Ids = Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: 'Duplicates count once' });
const BulkDecisionBody = object({ ids: Ids, decision: Decided, review_note: Note });
const BulkDeleteBody = object({ ids: Ids });
const BulkResultSchema = component('ComplianceBulkResult', {
  updated: Type.Integer({ minimum: 0, description: 'Number of changed or deleted findings' }),
  skipped: Type.Array(
    object({ id: Uuid, code: Choice(['not_found', 'wrong_state']), message: Type.String() }),
  ),
});
const VerdictBody = object({ verdict: Choice(['confirm', 'deny']) });

const finding = FindingSchema;
const listed = listResponse(FindingSchema);

/** Compliance findings: read, create, decide. */
export function registerFindingRoutes(app: App): void {
  const reading = routesOf(app, {
    tag: 'Compliance',
    module: 'grc',
    permission: 'compliance.view',
    permissionNote: 'grc.view',
  });
  const maintaining = routesOf(app, {
    tag: 'Compliance',
    module: 'grc',
    permission: 'compliance.manage',
    permissionNote: 'grc.manage',
  });

  reading.get('/api/v1/compliance/findings', {
    id: 'listComplianceFindings',
    summary: 'List findings about regulations',
    description:
      'By default those that no scan has resolved and that are on no archived card. With `sort_by=severity` the most severe come first in ascending order.',
    query: listQuery(findingSorts, 'created_at', findingFilters),
    responses: ok('Findings, newest first', listed),
    handler: ({ ctx, query }) => listFindings(ctx, query),
  });

  reading.get('/api/v1/cards/:card_id/compliance-findings', {
    id: 'listCardComplianceFindings',
    summary: 'List the findings on a card',
    query: listQuery(findingSorts, 'created_at', cardFindingFilters),
    responses: ok('Findings, newest first', listed),
    handler: ({ ctx, params, query }) => listCardFindings(ctx, params.card_id, query),
  });

  maintaining.post('/api/v1/compliance/findings', {
    id: 'createComplianceFinding',
    summary: 'Create a finding',
    body: bodies.create,
    responses: created('The finding', finding),
    handler: ({ ctx, body }) => createFinding(ctx, body as Partial<FindingContent>),
  });

  maintaining.patch('/api/v1/compliance/findings/bulk', {
    id: 'decideComplianceFindings',
    ifMatch: false,
    summary: 'Decide about many findings',
    description:
      'Findings whose current decision does not allow it are not changed and listed under `skipped`.',
    body: BulkDecisionBody,
    responses: ok('What was decided', BulkResultSchema),
    handler: ({ ctx, body: { ids, ...input } }) => decideFindings(ctx, ids, input as DecisionInput),
  });

  maintaining.delete('/api/v1/compliance/findings/bulk', {
    id: 'deleteComplianceFindings',
    summary: 'Delete many findings',
    description:
      'The next scan creates it again if the gap still exists. Findings that a risk tracks are skipped.',
    body: BulkDeleteBody,
    responses: ok('What was deleted', BulkResultSchema),
    handler: ({ ctx, body }) => deleteFindings(ctx, body.ids),
  });

  reading.get('/api/v1/compliance/findings/:finding_id', {
    id: 'getComplianceFinding',
    summary: 'Read a finding',
    responses: ok('The finding', finding),
    handler: ({ ctx, params }) => readFinding(ctx, params.finding_id),
  });

  maintaining.patch('/api/v1/compliance/findings/:finding_id', {
    id: 'decideComplianceFinding',
    summary: 'Decide about a finding',
    description:
      'From `new` to `in_review`, `accepted` or `not_applicable`; from `in_review` to `mitigated`, `accepted`, `not_applicable` or `new`; from `mitigated` to `verified` or `in_review`; from `verified`, `accepted` and `not_applicable` back to `in_review`. A refusal lists the `allowed` decisions.',
    body: DecisionBody,
    responses: ok('The finding', finding),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => decideFinding(ctx, params.finding_id, body as DecisionInput),
  });

  maintaining.delete('/api/v1/compliance/findings/:finding_id', {
    id: 'deleteComplianceFinding',
    summary: 'Delete a finding',
    description: 'The next scan creates it again if the gap still exists.',
    ifMatch: true,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteFinding(ctx, params.finding_id),
  });

  maintaining.patch('/api/v1/compliance/findings/:finding_id/details', {
    id: 'patchComplianceFinding',
    summary: 'Change the content of a finding',
    description:
      'Later scans do not overwrite edited members. The card and the regulation of a finding of a rule cannot be changed.',
    body: bodies.patch,
    responses: ok('The finding', finding),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchFinding(ctx, params.finding_id, body as Partial<FindingContent>),
  });

  maintaining.post('/api/v1/compliance/findings/:finding_id/ai-verdict', {
    id: 'giveComplianceAiVerdict',
    summary: 'Confirm or deny that the finding’s card uses AI',
    description:
      'Writes `hasAiFeatures` on the card like a change of the card; the next scan updates the findings.',
    permissionNote: 'grc.manage; inventory.edit or card.edit on the card',
    body: VerdictBody,
    ifMatch: true,
    responses: ok('The finding', finding),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) =>
      decideAiUse(ctx, params.finding_id, body.verdict as 'confirm' | 'deny'),
  });
}
