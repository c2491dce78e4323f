/** What is proposed to be done with a card. */
export const modernizationTypes = [
  'retire',
  'migrate',
  'replace',
  'upgrade',
  'replatform',
  'refactor',
] as const;

/** What may be decided of a proposal; `pending`: nothing yet. */
export const modernizationStatuses = ['pending', 'accepted', 'dismissed'] as const;

export type ModernizationStatus = (typeof modernizationStatuses)[number];

export type ModernizationType = (typeof modernizationTypes)[number];

export type Level = 'low' | 'medium' | 'high';

/** What is known of a card that may have to be modernised. */
export interface CardFacts {
  id: string;
  name: string;
  subtype: string | null;
  version: string | null;
  product: string | null;
  hosting: string | null;
  /** Option keys of the built-in fields; null where there is none. */
  technical: string | null;
  functional: string | null;
  time: string | null;
  classification: string | null;
  criticality: string | null;
  /** Days, as `YYYY-MM-DD`. */
  phaseOut: string | null;
  endOfLife: string | null;
  /** Of the release cycle that the card is linked to: its end, whether it is over, and the newest cycle with support. */
  cycle: {
    label: string;
    cycle: string;
    endsOn: string | null;
    isOver: boolean;
    newest: string | null;
  } | null;
  /** What it costs a year: the sum of its cost fields. */
  cost: number;
  /** How many cards rely on it. */
  dependants: number;
  /** IT components past their end that it uses: how many, and the names of the first. */
  endedParts: number;
  endedPartNames: string[];
}

/** One thing that speaks for modernising. */
export interface Reason {
  factor: Factor;
  /** Of the score; rounded to a tenth. */
  points: number;
  reason: string;
}

export type Factor =
  | 'lifecycle'
  | 'technical_suitability'
  | 'functional_suitability'
  | 'plans'
  | 'cost'
  | 'dependants'
  | 'criticality';

/** A card that should be modernised. */
export interface Candidate {
  cardId: string;
  type: ModernizationType;
  currentTech: string;
  recommendation: string;
  effort: Level;
  /** 0 to 100. */
  score: number;
  /** The same as if nothing were known of costs. */
  scoreWithoutCosts: number;
  reasons: Reason[];
  dependants: number;
}
