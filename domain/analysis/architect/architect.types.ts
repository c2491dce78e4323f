import Type, { type Static } from 'typebox';
import { arrayOf, Choice, Count, Nullable, OpenObject, object, type StaticOf } from '../../kernel/shapes.ts';

const Text = Type.String();
const Reasons = Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 50 });
const Severity = Choice(['high', 'medium', 'low']);
export type Severity = Static<typeof Severity>;

const CardName = object({ id: Text, name: Text, type: Text });
/** A card in responses. */
export type CardName = Static<typeof CardName>;

/** A question to the planner. `choice` accepts one of the options, `multi` any number, `text` free text. */
export const QuestionSchema = object({
  id: Type.String({ description: 'The key of its answer' }),
  question: Text,
  type: Choice(['text', 'choice', 'multi']),
  options: Type.Optional(arrayOf({ value: Text, label: Text })),
  reason: Type.String({ description: 'What the inventory says' }),
});
export type Question = Static<typeof QuestionSchema>;

/** A shortcoming of the current architecture. */
export const GapSchema = object({
  id: Type.String({ description: 'The same for the same shortcoming in every phase' }),
  kind: Choice([
    'capability_without_application',
    'end_of_life',
    'component_end_of_life',
    'low_fit',
    'planned_exit',
    'overlap',
  ]),
  severity: Severity,
  title: Text,
  card: CardName,
  related: Type.Array(CardName),
  reasons: Type.Array(Text),
  recommendation: Text,
});
export type Gap = Static<typeof GapSchema>;
export type GapKind = Gap['kind'];

export const optionIds = ['keep', 'consolidate', 'buy', 'build'] as const;
export type OptionId = (typeof optionIds)[number];

const Spend = object({
  applications: Count,
  annual_cost: Nullable(Type.Number({ description: 'Null where you see no costs, or none is known' })),
  without_cost: Type.Integer({ minimum: 0, description: 'Applications of which no cost is known' }),
});
/** The annual costs of some applications, as far as they are visible to the caller. */
export type Spend = Static<typeof Spend>;

/** An option for a target architecture, with its effects. */
export const OptionSchema = object({
  id: Choice(optionIds),
  title: Text,
  description: Text,
  recommended: Type.Boolean(),
  facts: object({
    new_cards: Count,
    changed_cards: Count,
    retired_cards: Count,
    new_relations: Count,
    closed_gaps: Count,
    open_gaps: Count,
    affected_organizations: Count,
    retired: Spend,
    changed: Spend,
  }),
  effort: Severity,
  reasons: Type.Array(Text),
  risks: arrayOf({ severity: Severity, text: Text }),
});
export type Option = Static<typeof OptionSchema>;

/** A relation of a card that an architecture changes or retires. */
export const DependencySchema = object({
  card: CardName,
  change: Choice(['changed', 'retired']),
  peer: CardName,
  relation_type: Text,
  label: Type.String({ description: 'The relation as it reads from the card' }),
  direction: Choice(['outgoing', 'incoming']),
  severity: Severity,
  reason: Text,
});
export type Dependency = Static<typeof DependencySchema>;

/** The members of a card that a target architecture creates, changes or retires. */
export const cardMembers = {
  id: Type.String({
    maxLength: 100,
    description: 'Of a stored card its id, of a new one a name such as `new-1`',
  }),
  change: Choice(['new', 'changed', 'retired']),
  type: Type.String({ maxLength: 100 }),
  subtype: Nullable(Type.String({ maxLength: 100 })),
  name: Type.String({ maxLength: 500 }),
  description: Nullable(Type.String({ maxLength: 10_000 })),
  attributes: OpenObject,
  reasons: Reasons,
};
export type ProposedCard = StaticOf<typeof cardMembers>;

/** The members of a relation that a target architecture creates; its ends are stored or proposed cards. */
export const relationMembers = {
  type: Type.String({ maxLength: 100 }),
  source_id: Type.String({ maxLength: 100 }),
  target_id: Type.String({ maxLength: 100 }),
  source_name: Type.String({ maxLength: 500 }),
  target_name: Type.String({ maxLength: 500 }),
  label: Type.String({ maxLength: 500 }),
  reasons: Reasons,
};
export type ProposedRelation = StaticOf<typeof relationMembers>;

export const architectureMembers = {
  cards: arrayOf(cardMembers),
  relations: arrayOf(relationMembers),
  left_out: Type.Integer({ minimum: 0, description: 'Cards and relations beyond the limits' }),
};
export type Architecture = StaticOf<typeof architectureMembers>;

/** A capability of the session. */
export interface ScopeCapability extends CardName {
  /** Not in the inventory yet; its id is `capability-1` and so on. */
  is_new: boolean;
  parent_id: string | null;
  /** Objectives of the session that it is related to. */
  objective_ids: string[];
  /** Applications of the session that are directly related to it. */
  application_ids: string[];
}

/** A card at the other end of a relation of an application. */
export interface Peer extends CardName {
  relation_type: string;
  /** From the side of the application. */
  direction: 'outgoing' | 'incoming';
  /** The date of its end of life, if known. */
  ends_on: string | null;
}

/** An application that supports a capability of the session. */
export interface ScopeApplication extends CardName {
  subtype: string | null;
  attributes: Record<string, unknown>;
  ends_on: string | null;
  /** Capabilities of the session. */
  capability_ids: string[];
  /** Number of other capabilities that it supports. */
  other_capabilities: number;
  /** All related cards except capabilities. */
  peers: Peer[];
}

/** The facts of the inventory for a session. */
export interface Facts {
  /** Today, and the last day of the planning horizon. */
  day: string;
  horizon: string;
  objectives: CardName[];
  capabilities: ScopeCapability[];
  applications: ScopeApplication[];
  /** The total number of applications, which may exceed the maximum. */
  total_applications: number;
}
