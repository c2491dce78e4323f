/** How a cluster stands; what people say of a pair is one of these but `pending`. */
export const clusterStatuses = ['pending', 'confirmed', 'investigating', 'dismissed'] as const;

export type ClusterStatus = (typeof clusterStatuses)[number];
export type PairDecision = Exclude<ClusterStatus, 'pending'>;

/** What people said of a pair, as it is stored. */
export interface DecisionRow {
  id: string;
  card_type: string;
  left_id: string;
  right_id: string;
  decision: PairDecision;
  left_facts: string;
  right_facts: string;
}

/** How much a run looks at: what changed, everything by the kept model, or everything, to learn a model anew. */
export const searchModes = ['changes', 'everything', 'learn'] as const;

export type SearchMode = (typeof searchModes)[number];

/** What a run is asked for; no types: all that are shown. */
export interface DuplicateParameters {
  card_types?: string[];
  mode: SearchMode;
}
