import type { RecurrenceUnit } from '../../collaboration/todos/todos.rules.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';

/** From the likeliest on: the rows of the matrix. */
export const probabilities = ['very_high', 'high', 'medium', 'low'] as const;
export type Probability = (typeof probabilities)[number];

/** From the gravest on: the columns of the matrix. */
export const impacts = ['critical', 'high', 'medium', 'low'] as const;
export type Impact = (typeof impacts)[number];

/** From the gravest on. */
export const levels = ['critical', 'high', 'medium', 'low'] as const;
export type Level = (typeof levels)[number];

export const riskCategories = [
  'security',
  'compliance',
  'operational',
  'technology',
  'financial',
  'reputational',
  'strategic',
] as const;
export type RiskCategory = (typeof riskCategories)[number];

export const riskStatuses = [
  'identified',
  'analysed',
  'mitigation_planned',
  'in_progress',
  'mitigated',
  'monitoring',
  'accepted',
  'closed',
] as const;
export type RiskStatus = (typeof riskStatuses)[number];

export const riskSources = ['manual', 'compliance'] as const;
export type RiskSource = (typeof riskSources)[number];

/** What a card has to do with a risk. */
export const cardRoles = ['affected', 'contributing', 'owner_of_control'] as const;
export type CardRole = (typeof cardRoles)[number];

/** A row of `risks` as its events tell it. */
export interface RiskRow extends StoredRow {
  id: string;
  reference: string;
  title: string;
  description: string;
  category: RiskCategory;
  source_type: RiskSource;
  source_ref: string | null;
  initial_probability: Probability;
  initial_impact: Impact;
  residual_probability: Probability | null;
  residual_impact: Impact | null;
  owner_id: string | null;
  /** `YYYY-MM-DD` */
  target_resolution_date: string | null;
  status: RiskStatus;
  acceptance_rationale: string | null;
  accepted_by: string | null;
  accepted_at: string | null;
  created_by: string | null;
}

/** A row of `risk_cards`. */
export interface RiskCardRow extends StoredRow {
  id: string;
  risk_id: string;
  card_id: string;
  role: CardRole;
}

/** A card as far as linking it goes. */
export interface LinkedCard {
  id: string;
  type: string;
}

/** A row of `risk_mitigation_tasks`. */
export interface TaskRow extends StoredRow {
  id: string;
  reference: string;
  risk_id: string;
  title: string;
  description: string | null;
  owner_id: string | null;
  recurrence_unit: RecurrenceUnit;
  recurrence_interval: number;
  lead_time_days: number;
  is_active: boolean;
  created_by: string | null;
}

export const occurrenceStatuses = ['scheduled', 'open', 'done', 'skipped'] as const;
export type OccurrenceStatus = (typeof occurrenceStatuses)[number];

/** A row of `risk_mitigation_occurrences`: one time that a task is to be done. */
export interface OccurrenceRow extends StoredRow {
  id: string;
  task_id: string;
  sequence: number;
  assigned_owner_id: string | null;
  /** `YYYY-MM-DD` */
  due_date: string | null;
  status: OccurrenceStatus;
  recurrence_day: number | null;
  activated_at: string | null;
  completed_at: string | null;
  completed_by: string | null;
  owner_at_completion: string | null;
  completion_notes: string | null;
}
