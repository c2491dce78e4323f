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

/** A card to be linked. */
export interface LinkedCard {
  id: string;
  type: string;
}

export const occurrenceStatuses = ['scheduled', 'open', 'done', 'skipped'] as const;
export type OccurrenceStatus = (typeof occurrenceStatuses)[number];
