/** The decisions about pairs. */
export const pairDecisions = ['confirmed', 'investigating', 'dismissed'] as const;
export type PairDecision = (typeof pairDecisions)[number];

/** The status of clusters and pairs: the decision, if there is one. */
export const clusterStatuses = ['pending', 'confirmed', 'investigating', 'dismissed'] as const;

export type ClusterStatus = (typeof clusterStatuses)[number];

/** What a run compares: changed cards, all cards with the current model, or all cards to learn a new model. */
export const searchModes = ['changes', 'everything', 'learn'] as const;

export type SearchMode = (typeof searchModes)[number];

/** The parameters of a run; all visible types by default. */
export interface DuplicateParameters {
  card_types?: string[];
  mode: SearchMode;
}
