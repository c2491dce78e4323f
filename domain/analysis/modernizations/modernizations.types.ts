/** The kinds of modernization. */
export const modernizationTypes = [
  'retire',
  'migrate',
  'replace',
  'upgrade',
  'replatform',
  'refactor',
] as const;

/** The decision about a proposal. */
export const modernizationStatuses = ['pending', 'accepted', 'dismissed'] as const;

export type ModernizationStatus = (typeof modernizationStatuses)[number];

export type ModernizationType = (typeof modernizationTypes)[number];

export const levels = ['low', 'medium', 'high'] as const;
export type Level = (typeof levels)[number];

/** The facts about a card that may have to be modernised. */
export interface CardFacts {
  id: string;
  name: string;
  subtype: string | null;
  version: string | null;
  product: string | null;
  hosting: string | null;
  /** Option keys of the built-in fields; null if not set. */
  technical: string | null;
  functional: string | null;
  time: string | null;
  classification: string | null;
  criticality: string | null;
  /** Days, as `YYYY-MM-DD`. */
  phaseOut: string | null;
  endOfLife: string | null;
  /** The release cycle that the card is linked to: its end of life, whether it is past, and the latest supported cycle. */
  cycle: {
    label: string;
    cycle: string;
    endsOn: string | null;
    isOver: boolean;
    newest: string | null;
  } | null;
  /** Annual costs: the sum of its cost fields. */
  cost: number;
  /** The number of cards that depend on it. */
  dependants: number;
  /** IT components after their end of life that it uses: their number, and the names of the first. */
  endedParts: number;
  endedPartNames: string[];
}

export type Factor =
  | 'lifecycle'
  | 'technical_suitability'
  | 'functional_suitability'
  | 'plans'
  | 'cost'
  | 'dependants'
  | 'criticality';
