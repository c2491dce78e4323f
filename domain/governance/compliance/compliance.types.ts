import type { StoredRow } from '../../kernel/events/row-changes.ts';

export const findingStatuses = [
  'compliant',
  'partial',
  'non_compliant',
  'not_applicable',
  'review_needed',
] as const;
export type FindingStatus = (typeof findingStatuses)[number];

/** What a finding of each status counts for; the score of a regulation is their rounded mean. */
export const scores: Readonly<Record<FindingStatus, number>> = {
  compliant: 100,
  not_applicable: 100,
  partial: 50,
  review_needed: 30,
  non_compliant: 0,
};

/** From the gravest on. */
export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

/** What was decided about a finding. */
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

/** What a person may write of a finding, and what a scan writes of its own. */
export interface FindingContent {
  regulation: string;
  regulation_article: string | null;
  card_id: string | null;
  category: string;
  requirement: string;
  status: FindingStatus;
  severity: Severity;
  gap_description: string;
  evidence: string | null;
  remediation: string | null;
}

/** A row of `compliance_findings` as its events tell it. */
export interface FindingRow extends FindingContent, StoredRow {
  id: string;
  run_id: string | null;
  rule_key: string | null;
  ai_detected: boolean;
  risk_id: string | null;
  decision: Decision;
  reviewed_by: string | null;
  reviewed_at: string | null;
  review_note: string | null;
  auto_resolved: boolean;
  last_seen_run_id: string | null;
  edited: string[];
  created_at: string;
  updated_at: string;
}
