import type { DataFlowRow } from '../../inventory/data-flows/data-flows.model.ts';
import type { LifecyclePhase } from '../../kernel/metamodel/metamodel.types.ts';

export interface DemoCard {
  type: string;
  subtype?: string;
  external_id: string;
  parent_external_id?: string;
  name: string;
  alias?: string;
  description: string;
  /** ISO dates. */
  lifecycle?: Partial<Record<LifecyclePhase, string>>;
  /** Money in the workspace's currency, per year where the field is annual; dates in ISO form. */
  attributes: Record<string, unknown>;
  /** `Group/Tag`. */
  tags?: string[];
  approval?: 'APPROVED' | 'REJECTED';
}

export interface DemoRelation {
  type: string;
  source_external_id: string;
  target_external_id: string;
  description?: string;
  attributes?: Record<string, unknown>;
}

/** A data flow: external ids of source, target, interface and (separated by blanks) data objects. */
export type DemoFlow = [
  source: string,
  target: string,
  over: string,
  objects: string,
  direction: DataFlowRow['direction'],
  frequency: string,
  description: string,
];

export interface DemoTagGroup {
  name: string;
  description: string;
  mode: 'single' | 'multi';
  mandatory: boolean;
  /** Card types that may carry the group's tags; null for all. */
  restrict_to_types: string[] | null;
  tags: { name: string; description: string; color: string }[];
}

/** A person of the demo, without a password. */
interface DemoUser {
  email: string;
  display_name: string;
  /** Key of a built-in application role. */
  role: string;
}

interface DemoStakeholder {
  card_external_id: string;
  email: string;
  /** Key of a stakeholder role of the card's type. */
  role: string;
}

export interface DemoLandscape {
  cards: DemoCard[];
  relations: DemoRelation[];
  flows: DemoFlow[];
  tagGroups: DemoTagGroup[];
  users: DemoUser[];
  stakeholders: DemoStakeholder[];
}

/** A date relative to the day of the landscape. */
export interface MonthsFromToday {
  months: number;
}

/** Months from the landscape's day (negative: before it), or a fixed ISO date. */
export type DemoDay = number | string;

/** A card of the data files, with relative dates. */
export interface DemoCardSource extends Omit<DemoCard, 'lifecycle' | 'attributes'> {
  lifecycle?: Partial<Record<LifecyclePhase, DemoDay>>;
  attributes: Record<string, unknown | MonthsFromToday>;
}

/** One or several relations of one source: type, source, and targets separated by blanks (`TARGET:detail`). */
export type DemoRelationRow = [type: string, source: string, targets: string];
