import Type from 'typebox';
import { runStatuses } from '../../domain/analysis/runs/runs.types.ts';
import {
  decisions,
  findingStatuses,
  severities,
} from '../../domain/governance/compliance/compliance.types.ts';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const oneOf = (values: readonly string[], description?: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    description === undefined ? {} : { description },
  );
const Status = oneOf(findingStatuses);
const Severity = oneOf(severities);
const Decision = oneOf(decisions);
const Regulation = Type.String({ minLength: 1, maxLength: 100, description: 'The key of a regulation' });
const Text = (maxLength: number, minLength = 0) => Type.String({ minLength, maxLength });
const Note = Type.Optional(
  Nullable(Type.String({ maxLength: 10_000, description: 'Must be given for `accepted`' })),
);
/** What a person may decide: risks alone are `risk_tracked`. */
const Decided = oneOf(
  decisions.filter((decision) => decision !== 'risk_tracked'),
  'Refused with `wrong_state` where it may not follow the present decision',
);

const finding = {
  id: Uuid,
  run_id: Type.String({
    format: 'uuid',
    description: 'The scan that found it first; the nil UUID for one that a person wrote',
  }),
  regulation: Type.String({ description: 'A regulation’s key' }),
  regulation_article: Nullable(Type.String()),
  card_id: Nullable(Uuid),
  card_name: Nullable(Type.String()),
  card_type: Nullable(Type.String()),
  card_has_ai_features: Nullable(Type.Boolean()),
  scope_type: oneOf(['landscape', 'card']),
  category: Type.String(),
  requirement: Type.String(),
  status: Status,
  severity: Severity,
  gap_description: Type.String(),
  evidence: Nullable(Type.String({ description: 'What was seen: numbers and the values of fields' })),
  remediation: Nullable(Type.String()),
  ai_detected: Type.Boolean({ description: 'The card seems to use AI and does not say so' }),
  risk_id: Nullable(Uuid),
  risk_reference: Nullable(Type.String()),
  decision: Decision,
  reviewed_by: Nullable(Uuid),
  reviewer_name: Nullable(Type.String()),
  reviewed_at: Nullable(Timestamp),
  review_note: Nullable(Type.String()),
  auto_resolved: Type.Boolean({ description: 'A later scan saw it no more' }),
  last_seen_run_id: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const FindingSchema = Type.Object(finding, { $id: 'ComplianceFinding', ...closed });
/** A finding in a list, cut to the members that were asked for. */
export const FindingItemSchema = Type.Partial(Type.Object(finding), {
  $id: 'ComplianceFindingItem',
  ...closed,
});

export const IncludeResolved = Type.Boolean({
  default: false,
  description: 'Also those that a later scan saw no more',
});

export const findingSorts = [
  'created_at',
  'updated_at',
  'severity',
  'regulation',
  'status',
  'decision',
  'card_name',
];
export const findingFilters = {
  regulation: Type.Optional(Regulation),
  status: Type.Optional(oneOf(findingStatuses, 'Only those with this status')),
  severity: Type.Optional(oneOf(severities, 'Only those of this severity')),
  decision: Type.Optional(oneOf(decisions, 'Only those about which this was decided')),
  category: Type.Optional(Type.String({ maxLength: 100, description: 'Only those of this category' })),
  scope_type: Type.Optional(
    oneOf(['landscape', 'card'], 'Only those about the landscape as a whole, or about cards'),
  ),
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those on this card' })),
  ai_detected: Type.Optional(
    Type.Boolean({ description: 'Only those on cards that seem to use AI and do not say so, or the others' }),
  ),
  include_auto_resolved: Type.Boolean({
    default: false,
    description: 'Also those that a later scan saw no more, and those on archived cards',
  }),
};

const content = {
  regulation_article: Type.Optional(Nullable(Text(200))),
  card_id: Type.Optional(Nullable(Uuid)),
  category: Type.Optional(Text(100)),
  gap_description: Type.Optional(Text(10_000)),
  evidence: Type.Optional(Nullable(Text(10_000))),
  remediation: Type.Optional(Nullable(Text(10_000))),
};
export const FindingCreateBody = Type.Object(
  { regulation: Regulation, requirement: Text(2000, 1), status: Status, severity: Severity, ...content },
  closed,
);
export const FindingPatchBody = Type.Object(
  {
    regulation: Type.Optional(Regulation),
    requirement: Type.Optional(Text(2000, 1)),
    status: Type.Optional(Status),
    severity: Type.Optional(Severity),
    ...content,
  },
  closed,
);

export const DecisionBody = Type.Object({ decision: Decided, review_note: Note }, closed);
const Ids = Type.Array(Uuid, { minItems: 1, maxItems: 1000, description: 'Repeated ones count once' });
export const BulkDecisionBody = Type.Object({ ids: Ids, decision: Decided, review_note: Note }, closed);
export const BulkDeleteBody = Type.Object({ ids: Ids }, closed);
export const BulkResultSchema = Type.Object(
  {
    updated: Type.Integer({ minimum: 0, description: 'How many were decided about, or deleted' }),
    skipped: Type.Array(
      Type.Object({ id: Uuid, code: oneOf(['not_found', 'wrong_state']), message: Type.String() }, closed),
    ),
  },
  { $id: 'ComplianceBulkResult', ...closed },
);
export const VerdictBody = Type.Object({ verdict: oneOf(['confirm', 'deny']) }, closed);

/** May be left out. */
export const ScanBody = Type.Unsafe<{ regulations?: string[] | null } | null | undefined>({
  ...Type.Object(
    {
      regulations: Type.Optional(
        Nullable(
          Type.Array(Regulation, {
            minItems: 1,
            maxItems: 200,
            description: 'Keys; absent or null: all that are enabled',
          }),
        ),
      ),
    },
    closed,
  ),
  type: ['object', 'null'],
});

const scan = {
  run_id: Nullable(Uuid),
  status: Nullable(oneOf(runStatuses)),
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  error: Nullable(Type.String()),
  progress: Nullable(
    Type.Object(
      {
        fraction: Type.Number({ minimum: 0, maximum: 1 }),
        message: Nullable(Type.String({ description: 'The regulation that it is at' })),
        counts: Type.Record(Type.String(), Type.Number()),
      },
      closed,
    ),
  ),
  summary: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        '`regulations`: by key how many rules, cards checked, gaps, and findings that were found, reopened, changed, resolved and left as they were, with the rules that were `skipped`, and in `read_by_model` how many cards a language model was asked about; `without_rules`: regulations for which there are none; `model_stopped`: why it was asked no more',
    }),
  ),
};
export const ScanSchema = Type.Object(scan, { $id: 'ComplianceScan', ...closed });
export const ActiveScansSchema = Type.Object(
  { compliance: Nullable(Type.Ref('ComplianceScan#')) },
  { $id: 'ActiveComplianceScans', ...closed },
);
const Score = Type.Integer({
  minimum: 0,
  maximum: 100,
  description:
    'The mean over the findings that stand: compliant and not applicable 100, partial 50, review needed 30, non-compliant 0',
});
export const OverviewSchema = Type.Object(
  {
    compliance_run: Type.Ref('ComplianceScan#'),
    compliance_scores: Type.Record(Type.String(), Score, {
      description: 'By regulation, of those with findings',
    }),
    compliance_by_status: Type.Record(
      Type.String(),
      Type.Record(Type.String(), Type.Integer({ minimum: 1 })),
      { description: 'By regulation: how many findings have which status' },
    ),
  },
  { $id: 'ComplianceOverview', ...closed },
);

export const bundleFilters = {
  regulation: Type.Optional(Regulation),
  status: Type.Optional(oneOf(findingStatuses, 'Of the findings in the bundles')),
  include_auto_resolved: findingFilters.include_auto_resolved,
};
export const BundleSchema = Type.Partial(
  Type.Object({
    regulation: Type.String(),
    label: Nullable(Type.String()),
    is_enabled: Type.Boolean(),
    is_known: Type.Boolean({ description: 'False for a regulation that was deleted' }),
    score: Score,
    findings_total: Type.Integer({ minimum: 0 }),
    findings: Type.Array(Type.Ref('ComplianceFinding#'), { description: 'The gravest 200' }),
  }),
  { $id: 'ComplianceBundle', ...closed },
);
