import Type from 'typebox';
import { Choice, type StaticOf } from '../../../domain/kernel/shapes.ts';

/** Applications of one group. */
export interface GroupFacts {
  name: string;
  apps: number;
  /** Technical suitability `unreasonable` or `inappropriate`. */
  technicallyBad: number;
  cost: number | null;
}

/** What is known of the applications that are asked about. Counts are of applications unless said otherwise. */
export interface PortfolioFacts {
  total: number;
  /** Past the end of their life, and within a year of it. */
  ended: number;
  ending: number;
  /** Being phased out, or past their end, and critical to the business. */
  leavingCritical: number;
  withoutLifecycle: number;
  critical: number;
  technicallyBad: number;
  functionallyBad: number;
  /** Technically bad and critical to the business. */
  badCritical: number;
  /** By TIME model; those without one are not told. */
  time: { tolerate: number; invest: number; migrate: number; eliminate: number };
  /** To be eliminated or migrated, without an end of life. */
  leavingWithoutDate: number;
  /** That use an IT component past its end, and how many components that are. */
  onEndedParts: number;
  endedParts: number;
  /** Capabilities that three applications and more support, and the one with the most. */
  crowdedCapabilities: number;
  mostCrowded: { name: string; apps: number } | null;
  withoutCapability: number;
  withoutStakeholder: number;
  withoutSupplier: number;
  /** In percent. */
  quality: number;
  /** Null for who may not see costs. */
  costs: { total: number; topTenth: number; leaving: number; priced: number } | null;
  /** The groups asked for, the largest first; null: none are asked for. */
  groups: { label: string; all: GroupFacts[]; without: number } | null;
  /** How the values of the attribute asked for are spread; null: none is asked for. */
  colors: { label: string; values: { name: string; apps: number }[]; without: number } | null;
}

/** The members of an observation. */
export const insightMembers = {
  key: Type.String({ description: 'Names the rule that made it', examples: ['ended'] }),
  title: Type.String(),
  observation: Type.String(),
  recommendation: Type.String(),
  severity: Choice(['info', 'warning', 'critical']),
  figures: Type.Record(Type.String(), Type.Number(), { description: 'The figures in the observation' }),
};
export type Insight = StaticOf<typeof insightMembers>;
