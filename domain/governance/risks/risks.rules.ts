import { defaultLead, type RecurrenceUnit } from '../../collaboration/todos/todos.rules.ts';
import type { Decision, FindingStatus, Severity } from '../compliance/compliance.model.ts';
import {
  type Impact,
  impacts,
  type Level,
  type OccurrenceStatus,
  type Probability,
  probabilities,
  type RiskRow,
  type RiskStatus,
  riskStatuses,
} from './risks.model.ts';

/** The level by probability (rows) and impact (columns), in descending order. */
const matrix: Readonly<Record<Probability, readonly Level[]>> = {
  very_high: ['critical', 'critical', 'high', 'medium'],
  high: ['critical', 'high', 'high', 'medium'],
  medium: ['high', 'high', 'medium', 'low'],
  low: ['medium', 'medium', 'low', 'low'],
};

/** The level of a risk; null unless both values are set. */
export function levelOf(probability: Probability | null, impact: Impact | null): Level | null {
  return probability && impact ? matrix[probability][impacts.indexOf(impact)]! : null;
}

/** The effective level: the residual one if it is set, otherwise the initial one. */
export const currentLevel = (risk: RiskRow): Level =>
  levelOf(risk.residual_probability, risk.residual_impact) ??
  levelOf(risk.initial_probability, risk.initial_impact)!;

/** {@link levelOf} as an SQL expression over two columns: null unless both are set. */
export function levelSql(probability: string, impact: string): string {
  const cases = probabilities.flatMap((p) => impacts.map((i) => `when '${p}/${i}' then '${levelOf(p, i)}'`));
  return `case ${probability} || '/' || ${impact} ${cases.join(' ')} end`;
}

const moves: Readonly<Record<RiskStatus, readonly RiskStatus[]>> = {
  identified: ['analysed', 'accepted'],
  analysed: ['mitigation_planned', 'accepted'],
  mitigation_planned: ['in_progress', 'accepted'],
  in_progress: ['mitigated', 'accepted'],
  mitigated: ['monitoring', 'closed', 'in_progress'],
  monitoring: ['closed', 'in_progress', 'accepted'],
  accepted: ['in_progress', 'closed'],
  closed: ['in_progress'],
};

/** The allowed transitions. */
export const nextStatuses = (from: RiskStatus): readonly RiskStatus[] => moves[from];

/** Whether the owner of a risk in this status needs no to-do. */
export const isSettled = (status: RiskStatus): boolean =>
  ['mitigated', 'monitoring', 'accepted', 'closed'].includes(status);

/** The statuses in which a risk whose target date is past is overdue. */
export const overdueStatuses: readonly RiskStatus[] = riskStatuses.filter(
  (status) => !['mitigated', 'accepted', 'closed'].includes(status),
);

const followed: Partial<Record<RiskStatus, Decision>> = {
  mitigated: 'mitigated',
  monitoring: 'mitigated',
  closed: 'verified',
  accepted: 'accepted',
};

/** The decision about the findings that a risk tracks, which follows its status. */
export const followedDecision = (status: RiskStatus): Decision => followed[status] ?? 'risk_tracked';

const ofFinding: Readonly<Record<FindingStatus, Probability>> = {
  non_compliant: 'high',
  partial: 'medium',
  review_needed: 'medium',
  compliant: 'low',
  not_applicable: 'low',
};

/** The initial estimate of a risk that is created from a finding. */
export function estimateOf(finding: { status: FindingStatus; severity: Severity }): {
  initial_probability: Probability;
  initial_impact: Impact;
} {
  return {
    initial_probability: ofFinding[finding.status],
    initial_impact: finding.severity === 'info' ? 'low' : finding.severity,
  };
}

/** The default lead time of a task that does not recur. */
const ONCE_LEAD_DAYS = 14;

/** The default lead time in days: how long before its due date an occurrence opens. */
export const defaultTaskLead = (unit: RecurrenceUnit, interval: number): number =>
  unit === 'none' ? ONCE_LEAD_DAYS : defaultLead({ unit, interval });

/** What is done with an occurrence, and from which status that is allowed. */
export const occurrenceActs = {
  promote: { from: 'scheduled', to: 'open' },
  complete: { from: 'open', to: 'done' },
  skip: { from: 'open', to: 'skipped' },
} as const satisfies Record<string, { from: OccurrenceStatus; to: OccurrenceStatus }>;
export type OccurrenceAct = keyof typeof occurrenceActs;
