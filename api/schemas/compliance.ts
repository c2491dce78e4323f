import Type from 'typebox';
import { runStatuses } from '../../domain/analysis/runs/runs.types.ts';
import {
  decisions,
  Finding,
  findingStatuses,
  severities,
} from '../../domain/governance/compliance/compliance.model.ts';
import { findingFilters } from '../../domain/governance/compliance/findings.list.ts';
import {
  Choice,
  component,
  itemComponent,
  Nullable,
  object,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';
import { answersOf, bodiesOf } from './common.ts';

const Status = Choice(findingStatuses);
const Severity = Choice(severities);
const Regulation = Type.String({ minLength: 1, maxLength: 100, description: 'The key of a regulation' });
const Text = (maxLength: number, minLength = 0) => Type.String({ minLength, maxLength });
const Note = Type.Optional(
  Nullable(Type.String({ maxLength: 10_000, description: 'Required for `accepted`' })),
);
/** Decisions of persons: `risk_tracked` is set by promotion to a risk. */
const Decided = Choice(
  decisions.filter((decision) => decision !== 'risk_tracked'),
  'Refused with `wrong_state` if the current decision does not allow it',
);

const { rule_key: _ruleKey, edited: _edited, ...findingColumns } = Finding.columns;
const finding = {
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
};
export const { whole: FindingSchema, item: FindingItemSchema } = answersOf('ComplianceFinding', finding);

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
export const FindingCreateBody = bodies.create;
export const FindingPatchBody = bodies.patch;

export const DecisionBody = object({ decision: Decided, review_note: Note });
const Ids = Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: 'Duplicates count once' });
export const BulkDecisionBody = object({ ids: Ids, decision: Decided, review_note: Note });
export const BulkDeleteBody = object({ ids: Ids });
export const BulkResultSchema = component('ComplianceBulkResult', {
  updated: Type.Integer({ minimum: 0, description: 'Number of changed or deleted findings' }),
  skipped: Type.Array(
    object({ id: Uuid, code: Choice(['not_found', 'wrong_state']), message: Type.String() }),
  ),
});
export const VerdictBody = object({ verdict: Choice(['confirm', 'deny']) });

/** Optional. */
export const ScanBody = Type.Unsafe<{ regulations?: string[] | null } | null | undefined>({
  ...object({
    regulations: Type.Optional(
      Nullable(
        Type.Array(Regulation, {
          minItems: 1,
          maxItems: 200,
          description: 'Keys; absent or null: all enabled regulations',
        }),
      ),
    ),
  }),
  type: ['object', 'null'],
});

const scan = {
  run_id: Nullable(Uuid),
  status: Nullable(Choice(runStatuses)),
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  error: Nullable(Type.String()),
  progress: Nullable(
    object({
      fraction: Type.Number({ minimum: 0, maximum: 1 }),
      message: Nullable(Type.String({ description: 'The current regulation' })),
      counts: Type.Record(Type.String(), Type.Number()),
    }),
  ),
  summary: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        '`regulations`: by key the numbers of rules, checked cards, gaps, and findings that were found, reopened, changed, resolved and unchanged, the `skipped` rules, and in `read_by_model` the number of cards that a language model assessed; `without_rules`: regulations without rules; `model_stopped`: why the model was no longer used',
    }),
  ),
};
const ScanSchema = component('ComplianceScan', scan);
export const ActiveScansSchema = component('ActiveComplianceScans', { compliance: Nullable(ScanSchema) });
const Score = Type.Integer({
  minimum: 0,
  maximum: 100,
  description:
    'The mean over unresolved findings on active cards: compliant and not applicable 100, partial 50, review needed 30, non-compliant 0',
});
export const OverviewSchema = component('ComplianceOverview', {
  compliance_run: ScanSchema,
  compliance_scores: Type.Record(Type.String(), Score, {
    description: 'By regulation, for regulations with findings',
  }),
  compliance_by_status: Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer({ minimum: 1 })), {
    description: 'By regulation: number of findings by status',
  }),
});

export const bundleFilters = {
  regulation: Type.Optional(Regulation),
  status: Type.Optional(Choice(findingStatuses, 'Only findings with this status')),
  include_auto_resolved: findingFilters.include_auto_resolved,
};
export const BundleSchema = itemComponent('ComplianceBundle', {
  regulation: Type.String(),
  label: Nullable(Type.String()),
  is_enabled: Type.Boolean(),
  is_known: Type.Boolean({ description: 'False for a regulation that was deleted' }),
  score: Score,
  findings_total: Type.Integer({ minimum: 0 }),
  findings: Type.Array(FindingSchema, { description: 'The 200 most severe' }),
});
