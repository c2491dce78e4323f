/** What a client may give as the answer to a question. */
type Answer = string | number | boolean | null | (string | number)[];

/** A card as answers name it. */
export interface CardName {
  id: string;
  name: string;
  type: string;
}

/** What a client sends along from phase to phase. */
export interface SessionInput {
  requirement?: string | null;
  phase1QA?: Record<string, Answer> | { id?: string; answer?: Answer }[] | null;
  allQA?: Record<string, Answer> | { id?: string; answer?: Answer }[] | null;
  selectedOption?: { id?: string } | null;
  /** Gaps, by their ids. */
  selectedRecommendations?: { id?: string }[] | null;
  selectedProducts?: { name?: string }[] | null;
  objectiveIds?: string[] | null;
  selectedCapabilities?: { id?: string | null; name?: string }[] | null;
}

/** A capability that the session is about. */
export interface ScopeCapability extends CardName {
  /** Not in the inventory yet; its id is `capability-1` and so on. */
  is_new: boolean;
  parent_id: string | null;
  /** Objectives of the session that it is related to. */
  objective_ids: string[];
  /** Applications of the scope that are related to it itself. */
  application_ids: string[];
}

/** A card at the other end of a relation of an application. */
export interface Peer extends CardName {
  relation_type: string;
  /** Seen from the application. */
  direction: 'outgoing' | 'incoming';
  /** When it reaches the end of its life, if that is known. */
  ends_on: string | null;
}

/** An application that supports a capability of the scope. */
export interface ScopeApplication extends CardName {
  subtype: string | null;
  attributes: Record<string, unknown>;
  ends_on: string | null;
  /** Capabilities of the scope. */
  capability_ids: string[];
  /** How many capabilities it supports besides. */
  other_capabilities: number;
  /** Whatever is related to it, capabilities left out. */
  peers: Peer[];
}

/** What the inventory says about a session. */
export interface Facts {
  /** Today, and the day until which is looked ahead. */
  day: string;
  horizon: string;
  objectives: CardName[];
  capabilities: ScopeCapability[];
  applications: ScopeApplication[];
  /** Applications there are; more than are looked at only where they are too many. */
  total_applications: number;
}

export type Severity = 'high' | 'medium' | 'low';

export type GapKind =
  | 'capability_without_application'
  | 'end_of_life'
  | 'component_end_of_life'
  | 'low_fit'
  | 'planned_exit'
  | 'overlap';

/** Where the architecture of today falls short. */
export interface Gap {
  /** The same for the same shortcoming, also in a later phase. */
  id: string;
  kind: GapKind;
  severity: Severity;
  title: string;
  /** The capability or application that it is about. */
  card: CardName;
  related: CardName[];
  reasons: string[];
  recommendation: string;
}

export const optionIds = ['keep', 'consolidate', 'buy', 'build'] as const;
export type OptionId = (typeof optionIds)[number];

/** A card that a target architecture makes, changes or retires. */
export interface ProposedCard {
  /** Of a stored card its id, of a new one `new-1` and so on. */
  id: string;
  change: 'new' | 'changed' | 'retired';
  type: string;
  subtype: string | null;
  name: string;
  description: string | null;
  /** What is set; other attributes stay. */
  attributes: Record<string, unknown>;
  reasons: string[];
}

/** A relation that a target architecture makes; its ends are stored or proposed cards. */
export interface ProposedRelation {
  type: string;
  label: string;
  source_id: string;
  target_id: string;
  source_name: string;
  target_name: string;
  reasons: string[];
}

export interface Architecture {
  cards: ProposedCard[];
  /** Chosen by their place, from 0 on. */
  relations: ProposedRelation[];
  /** What was left out since there is no room for more. */
  left_out: number;
}
