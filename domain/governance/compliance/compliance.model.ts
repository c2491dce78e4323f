import Type from 'typebox';
import { Internal, type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, NullableText, Timestamp, Uuid } from '../../kernel/shapes.ts';

export const findingStatuses = [
  'compliant',
  'partial',
  'non_compliant',
  'not_applicable',
  'review_needed',
] as const;
export type FindingStatus = (typeof findingStatuses)[number];

/** The score of each status; the score of a regulation is the rounded mean over its findings. */
export const scores: Readonly<Record<FindingStatus, number>> = {
  compliant: 100,
  not_applicable: 100,
  partial: 50,
  review_needed: 30,
  non_compliant: 0,
};

/** The most severe first. */
export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

/** Decisions about a finding. */
export const decisions = [
  'new',
  'in_review',
  'mitigated',
  'verified',
  'accepted',
  'not_applicable',
  'risk_tracked',
] as const;
export type Decision = (typeof decisions)[number];

export class Finding extends rowModel('compliance_findings', {
  id: Uuid,
  run_id: Nullable(Uuid),
  regulation: Type.String({ minLength: 1, maxLength: 100, description: 'A regulation’s key' }),
  regulation_article: Nullable(Type.String({ maxLength: 200 })),
  /** The rule that found it; null for one that a person entered. */
  rule_key: Internal(Nullable(Type.String())),
  card_id: Nullable(Uuid),
  category: Type.String({ maxLength: 100 }),
  requirement: Type.String({ minLength: 1, maxLength: 2000 }),
  status: Choice(findingStatuses),
  severity: Choice(severities),
  gap_description: Type.String(),
  evidence: NullableText('Numbers and the values of fields'),
  remediation: Nullable(Type.String({ maxLength: 10_000 })),
  ai_detected: Type.Boolean({ description: 'The card seems to use AI, but does not say so' }),
  risk_id: Nullable(Uuid),
  decision: Choice(decisions),
  reviewed_by: Nullable(Uuid),
  reviewed_at: Nullable(Timestamp),
  review_note: Nullable(Type.String({ maxLength: 10_000 })),
  auto_resolved: Type.Boolean({ description: 'The last scan no longer found it' }),
  last_seen_run_id: Nullable(Uuid),
  /** Columns edited by a person, which scans do not change. */
  edited: Internal(SqlArray(Type.String())),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type FindingRow = RowOf<typeof Finding>;

/** The members of a finding that users may write, and those that only scans write. */
export type FindingContent = Pick<
  FindingRow,
  | 'regulation'
  | 'regulation_article'
  | 'card_id'
  | 'category'
  | 'requirement'
  | 'status'
  | 'severity'
  | 'gap_description'
  | 'evidence'
  | 'remediation'
>;
