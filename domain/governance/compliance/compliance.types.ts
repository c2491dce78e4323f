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
