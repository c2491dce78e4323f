import Type from 'typebox';
import {
  decisions,
  Finding,
  type FindingContent,
} from '../../../domain/governance/compliance/compliance.model.ts';
import {
  BulkResultSchema,
  createFinding,
  type DecisionInput,
  decideAiUse,
  decideFinding,
  decideFindings,
  deleteFinding,
  deleteFindings,
  patchFinding,
} from '../../../domain/governance/compliance/findings.commands.ts';
import { cardFindingList, findingList } from '../../../domain/governance/compliance/findings.list.ts';
import { Choice, Clearable, component, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { created, ok, routeGroup, routesOf } from '../../operation.ts';
import { bodiesOf, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';

export const Regulation = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The key of a regulation',
});

const findingColumns = Finding.shown.columns;
export const FindingSchema = component('ComplianceFinding', {
  ...findingColumns,
  run_id: Type.String({
    format: 'uuid',
    description: 'The scan that found it first; the nil UUID for one that a person created',
  }),
  card_name: Nullable(Type.String()),
  card_type: Nullable(Type.String()),
  card_has_ai_features: Nullable(Type.Boolean()),
  scope_type: Choice(['landscape', 'card']),
  risk_reference: Nullable(Type.String()),
  reviewer_name: Nullable(Type.String()),
});

const { requirement, status, severity, regulation_article, category, remediation } = findingColumns;
/** What scans write may be longer. */
const Text = Type.String({ maxLength: 10_000 });
const Note = Clearable(Type.String({ maxLength: 10_000, description: 'Required for `accepted`' }));
/** Decisions of persons: `risk_tracked` is set by promotion to a risk. */
const Decided = Choice(
  decisions.filter((decision) => decision !== 'risk_tracked'),
  'Refused with `wrong_state` if the current decision does not allow it',
);

const bodies = bodiesOf(
  { regulation: Regulation, requirement, status, severity },
  {
    regulation_article,
    card_id: Nullable(Uuid),
    category,
    gap_description: Text,
    evidence: Nullable(Text),
    remediation,
  },
);

const DecisionBody = object({ decision: Decided, review_note: Note });
const Ids = Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: 'Duplicates count once' });
const BulkDecisionBody = object({ ids: Ids, decision: Decided, review_note: Note });
const BulkDeleteBody = object({ ids: Ids });
const VerdictBody = object({ verdict: Choice(['confirm', 'deny']) });

const listed = listResponse(FindingSchema);

/** Compliance findings: read, create, decide. */
export function registerFindingRoutes(app: App): void {
  const reading = routesOf(app, routeGroup('Compliance', 'grc', 'compliance.view', 'grc.view'));
  const maintaining = routesOf(app, routeGroup('Compliance', 'grc', 'compliance.manage', 'grc.manage'));

  reading.list('listComplianceFindings', '/api/v1/compliance/findings', findingList, {
    summary: 'List findings about regulations',
    description:
      'By default those that no scan has resolved and that are on no archived card. With `sort_by=severity` the most severe come first in ascending order.',
    responses: ok('Findings, newest first', listed),
  });

  reading.list('listCardComplianceFindings', '/api/v1/cards/:card_id/compliance-findings', cardFindingList, {
    summary: 'List the findings on a card',
    responses: ok('Findings, newest first', listed),
  });

  maintaining.post('createComplianceFinding', '/api/v1/compliance/findings', {
    summary: 'Create a finding',
    body: bodies.create,
    responses: created('The finding', FindingSchema),
    handler: ({ ctx, body }) => createFinding(ctx, body as Partial<FindingContent>),
  });

  maintaining.patch('decideComplianceFindings', '/api/v1/compliance/findings/bulk', {
    ifMatch: false,
    summary: 'Decide about many findings',
    description:
      'Findings whose current decision does not allow it are not changed and listed under `skipped`.',
    body: BulkDecisionBody,
    responses: ok('What was decided', BulkResultSchema),
    handler: ({ ctx, body: { ids, ...input } }) => decideFindings(ctx, ids, input as DecisionInput),
  });

  maintaining.delete('deleteComplianceFindings', '/api/v1/compliance/findings/bulk', {
    summary: 'Delete many findings',
    description:
      'The next scan creates it again if the gap still exists. Findings that a risk tracks are skipped.',
    body: BulkDeleteBody,
    responses: ok('What was deleted', BulkResultSchema),
    handler: ({ ctx, body }) => deleteFindings(ctx, body.ids),
  });

  reading.item(
    'getComplianceFinding',
    '/api/v1/compliance/findings/:finding_id',
    findingList,
    'compliance finding',
    {
      summary: 'Read a finding',
      responses: ok('The finding', FindingSchema),
    },
  );

  maintaining.patch('decideComplianceFinding', '/api/v1/compliance/findings/:finding_id', {
    summary: 'Decide about a finding',
    description:
      'From `new` to `in_review`, `accepted` or `not_applicable`; from `in_review` to `mitigated`, `accepted`, `not_applicable` or `new`; from `mitigated` to `verified` or `in_review`; from `verified`, `accepted` and `not_applicable` back to `in_review`. A refusal lists the `allowed` decisions.',
    body: DecisionBody,
    responses: ok('The finding', FindingSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => decideFinding(ctx, params.finding_id, body as DecisionInput),
  });

  maintaining.delete('deleteComplianceFinding', '/api/v1/compliance/findings/:finding_id', {
    summary: 'Delete a finding',
    description: 'The next scan creates it again if the gap still exists.',
    ifMatch: true,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteFinding(ctx, params.finding_id),
  });

  maintaining.patch('patchComplianceFinding', '/api/v1/compliance/findings/:finding_id/details', {
    summary: 'Change the content of a finding',
    description:
      'Later scans do not overwrite edited members. The card and the regulation of a finding of a rule cannot be changed.',
    body: bodies.patch,
    responses: ok('The finding', FindingSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchFinding(ctx, params.finding_id, body as Partial<FindingContent>),
  });

  maintaining.post('giveComplianceAiVerdict', '/api/v1/compliance/findings/:finding_id/ai-verdict', {
    summary: 'Confirm or deny that the finding’s card uses AI',
    description:
      'Writes `hasAiFeatures` on the card like a change of the card; the next scan updates the findings.',
    permissionNote: 'grc.manage; inventory.edit or card.edit on the card',
    body: VerdictBody,
    ifMatch: true,
    responses: ok('The finding', FindingSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) =>
      decideAiUse(ctx, params.finding_id, body.verdict as 'confirm' | 'deny'),
  });
}
