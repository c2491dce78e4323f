import Type from 'typebox';
import { recurrenceUnits } from '../../collaboration/todos/todos.rules.ts';
import { Internal, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, DateOnly, Nullable, NullableText, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** In descending order: the rows of the matrix. */
export const probabilities = ['very_high', 'high', 'medium', 'low'] as const;
export type Probability = (typeof probabilities)[number];

/** In descending order: the columns of the matrix. */
export const impacts = ['critical', 'high', 'medium', 'low'] as const;
export type Impact = (typeof impacts)[number];

/** In descending order. */
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

/** The role of a card in a risk. */
export const cardRoles = ['affected', 'contributing', 'owner_of_control'] as const;
export type CardRole = (typeof cardRoles)[number];

export const occurrenceStatuses = ['scheduled', 'open', 'done', 'skipped'] as const;
export type OccurrenceStatus = (typeof occurrenceStatuses)[number];

/** The topic of the reports that count risks. */
export const RISKS_TOPIC = 'risks';

/** To do an occurrence of a mitigation task; the subject is the occurrence. */
export const OCCURRENCE_TOPIC = 'risk_mitigation';

export const Title = Type.String({ minLength: 1, maxLength: 500 });
export const Text = Type.String({ maxLength: 10_000 });

export class Risk extends rowModel('risks', {
  id: Uuid,
  reference: Type.String({ examples: ['R-000042'] }),
  title: Title,
  description: Text,
  category: Choice(riskCategories),
  source_type: Choice(riskSources, '`compliance`: made of a finding about a regulation'),
  source_ref: NullableText('Of a promoted finding the regulation’s key'),
  initial_probability: Choice(probabilities),
  initial_impact: Choice(impacts),
  residual_probability: Nullable(Choice(probabilities)),
  residual_impact: Nullable(Choice(impacts)),
  owner_id: Nullable(Uuid),
  target_resolution_date: Nullable(DateOnly),
  status: Choice(riskStatuses),
  acceptance_rationale: Nullable(Text),
  accepted_by: Nullable(Uuid),
  accepted_at: Nullable(Timestamp),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type RiskRow = RowOf<typeof Risk>;

/** A link of a risk to a card. */
export class RiskCard extends rowModel('risk_cards', {
  id: Uuid,
  risk_id: Uuid,
  card_id: Uuid,
  role: Choice(cardRoles, 'What the card has to do with the risk'),
  created_at: Timestamp,
}) {}
export type RiskCardRow = RowOf<typeof RiskCard>;

export class MitigationTask extends rowModel('risk_mitigation_tasks', {
  id: Uuid,
  reference: Type.String({ examples: ['T-000007'] }),
  risk_id: Uuid,
  title: Title,
  description: Nullable(Text),
  owner_id: Nullable(Uuid),
  recurrence_unit: Choice(recurrenceUnits),
  recurrence_interval: Type.Integer({ minimum: 1, maximum: 365 }),
  lead_time_days: Type.Integer({ minimum: 0, maximum: 3650, description: 'Days before the due date' }),
  is_active: Type.Boolean({ description: 'Whether it recurs and its occurrences open automatically' }),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type TaskRow = RowOf<typeof MitigationTask>;

/** One occurrence of a mitigation task. */
export class Occurrence extends rowModel('risk_mitigation_occurrences', {
  id: Uuid,
  task_id: Uuid,
  sequence: Type.Integer({ minimum: 1 }),
  assigned_owner_id: Nullable(Uuid),
  due_date: Nullable(DateOnly),
  status: Choice(occurrenceStatuses),
  recurrence_day: Internal(Nullable(Type.Integer())),
  activated_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  completed_by: Nullable(Uuid),
  owner_at_completion: Nullable(Uuid),
  completion_notes: Nullable(Text),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type OccurrenceRow = RowOf<typeof Occurrence>;
