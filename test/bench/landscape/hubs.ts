import { relationTypeSeeds } from '../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { mix, mulberry32 } from './random.ts';
import type { Shape, TypeShape } from './shape.ts';

/** Every so-many-th card of a type is a hub, with over a hundred relations. */
const EVERY = 100;
const FEWEST = 101;
/** The hubs together take at most this part of all relations, so that the others have some too. */
const MOST_OF_ALL = 0.6;

/** The relation types in which a type's hubs have their many relations, on which side. */
const hubRelations: Record<string, [type: string, side: 'source' | 'target'][]> = {
  Application: [
    ['relAppToInterface', 'source'],
    ['relAppToITC', 'source'],
    ['relOrgToApp', 'target'],
    ['relProcessToApp', 'target'],
  ],
  ITComponent: [['relAppToITC', 'target']],
  Interface: [['relAppToInterface', 'target']],
  BusinessCapability: [['relAppToBC', 'target']],
  BusinessProcess: [['relProcessToApp', 'source']],
  DataObject: [['relAppToDataObj', 'target']],
  Organization: [['relOrgToApp', 'source']],
  Initiative: [['relInitiativeToApp', 'source']],
  BusinessContext: [['relAppToBizCtx', 'target']],
  Provider: [['relProviderToITC', 'source']],
  Objective: [['relObjectiveToBC', 'source']],
  TechCategory: [['relITCToTechCat', 'target']],
  Platform: [['relPlatformToApp', 'source']],
};

export interface HubPlan {
  type: string;
  /** The side on which the hub stands. */
  side: 'source' | 'target';
  /** The hub's place within its type. */
  at: number;
  degree: number;
}

/** The cards of a type that are no hubs, numbered through; `at` gives the place within the type. */
export function nonHubs(shape: TypeShape): { count: number; at(number: number): number } {
  return {
    count: shape.count - Math.ceil(shape.count / EVERY),
    at: (number) => number + Math.floor(number / (EVERY - 1)) + 1,
  };
}

/** Which cards are hubs and how many relations each has; the greatest is a component with a sixtieth of all. */
export function planHubs(shape: Shape, relations: number, seed: number): HubPlan[] {
  const ends = new Map(relationTypeSeeds.map((type) => [type.key, type]));
  const plans: HubPlan[] = [];
  for (const ofType of shape.types) {
    for (let at = 0; at < ofType.count; at += EVERY) {
      const choices = hubRelations[ofType.type]!;
      const [type, side] = choices[(at / EVERY) % choices.length]!;
      const { source_type_key, target_type_key } = ends.get(type)!;
      const partners = nonHubs(shape.of(side === 'source' ? target_type_key : source_type_key)).count;
      const random = mulberry32(mix(seed, ofType.first + at, 19));
      // most have a little over a hundred, few several hundred
      const wanted = FEWEST + Math.floor(20 * (1 / (1 - random() * 0.97) - 1));
      plans.push({ type, side, at, degree: Math.min(wanted, partners) });
    }
  }
  const greatest = plans.find((plan) => plan.type === 'relAppToITC' && plan.side === 'target')!;
  greatest.degree = Math.min(Math.floor(relations / 60), nonHubs(shape.of('Application')).count);
  const sum = plans.reduce((total, plan) => total + plan.degree, 0);
  const scale = Math.min(1, (MOST_OF_ALL * relations) / sum);
  return plans.map((plan) => ({ ...plan, degree: Math.floor(plan.degree * scale) }));
}
