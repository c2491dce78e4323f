import { relationTypeSeeds } from '../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import type { RelationTypeSeed } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { mix, mulberry32, pick, type Random, strideOf } from './random.ts';
import shares from './relations.shares.json' with { type: 'json' };
import { externalId, type Shape, shapeOf, type TypeShape } from './shape.ts';

/** A relation as an import row. */
export interface BenchRelation {
  type: string;
  source_external_id: string;
  target_external_id: string;
  description?: string;
  attributes: Record<string, unknown>;
}

export interface BenchRelationsOptions {
  /** Size of the landscape whose cards they relate. */
  cards: number;
  relations: number;
  seed: number;
}

/** Shares of the relations between ordinary cards; what does not fit goes to the first. */
const weights = shares as [type: string, weight: number][];

const typesByKey = new Map(relationTypeSeeds.map((type) => [type.key, type]));

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

interface HubPlan {
  type: string;
  /** The hub's side. */
  side: 'source' | 'target';
  /** The hub's place within its type. */
  at: number;
  degree: number;
}

/** The cards of a type that are no hubs, numbered through; `at` gives the place within the type. */
function nonHubs(shape: TypeShape): { count: number; at(number: number): number } {
  return {
    count: shape.count - Math.ceil(shape.count / EVERY),
    at: (number) => number + Math.floor(number / (EVERY - 1)) + 1,
  };
}

/** Which cards are hubs and how many relations each has; the greatest is a component with a sixtieth of all. */
function planHubs(shape: Shape, relations: number, seed: number): HubPlan[] {
  const plans: HubPlan[] = [];
  for (const ofType of shape.types) {
    for (let at = 0; at < ofType.count; at += EVERY) {
      const choices = hubRelations[ofType.type]!;
      const [type, side] = choices[(at / EVERY) % choices.length]!;
      const { source_type_key, target_type_key } = typesByKey.get(type)!;
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

function attributesOf(type: RelationTypeSeed, random: Random): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const { key, type: kind, options } of type.attributes_schema) {
    if (kind === 'single_select') attributes[key] = pick(random, options!).key;
    else if (kind === 'boolean') attributes[key] = random() < 0.5;
    else attributes[key] = Math.round(10 ** (2 + random() * 3) * 100) / 100;
  }
  return attributes;
}

interface Pair {
  type: string;
  /** Places within the source's and the target's types. */
  source: number;
  target: number;
}

/** The relations of the hubs, each with partners that are no hubs and lie far apart. */
function* hubPairs(shape: Shape, plans: HubPlan[], seed: number): Generator<Pair> {
  for (const { type, side, at, degree } of plans) {
    const relationType = typesByKey.get(type)!;
    const partners = nonHubs(
      shape.of(side === 'source' ? relationType.target_type_key : relationType.source_type_key),
    );
    const stride = strideOf(partners.count);
    const start = mix(seed, at, degree, 11) % partners.count;
    for (let n = 0; n < degree; n += 1) {
      const partner = partners.at((start + n * stride) % partners.count);
      yield side === 'source' ? { type, source: at, target: partner } : { type, source: partner, target: at };
    }
  }
}

/**
 * Relations of one type between ordinary cards. The sources are walked in rounds over ever fewer of them, which
 * gives a few of them many relations and most of them few; a source meets another target in each round.
 */
function* ordinaryPairs(shape: Shape, type: string, count: number, seed: number): Generator<Pair> {
  const { source_type_key, target_type_key } = typesByKey.get(type)!;
  const sources = nonHubs(shape.of(source_type_key));
  const targets = nonHubs(shape.of(target_type_key));
  const sourceStride = strideOf(sources.count);
  const targetStride = strideOf(targets.count);
  let made = 0;
  for (let round = 0; made < count; round += 1) {
    const inRound = roundSize(sources.count, round);
    for (let n = 0; n < inRound && made < count; n += 1) {
      const source = (n * sourceStride) % sources.count;
      const target =
        ((mix(seed, source, type.length, 13) % targets.count) + round * targetStride) % targets.count;
      yield { type, source: sources.at(source), target: targets.at(target) };
      made += 1;
    }
  }
}

/** The n-th round takes a share of 1/n of the sources, an eighth at least. */
const roundSize = (sources: number, round: number): number =>
  Math.max(1, Math.floor(sources / Math.min(round + 1, 8)));

/** The most relations that `ordinaryPairs` can make of one type without a repetition. */
function capacity(shape: Shape, type: string): number {
  const { source_type_key, target_type_key } = typesByKey.get(type)!;
  const sources = nonHubs(shape.of(source_type_key)).count;
  const rounds = nonHubs(shape.of(target_type_key)).count;
  let sum = 0;
  for (let round = 0; round < Math.min(rounds, 8); round += 1) sum += roundSize(sources, round);
  return sum + Math.max(0, rounds - 8) * roundSize(sources, 8);
}

function* pairs(shape: Shape, relations: number, seed: number): Generator<Pair> {
  const plans = planHubs(shape, relations, seed);
  const ofHubs = plans.reduce((sum, plan) => sum + plan.degree, 0);
  yield* hubPairs(shape, plans, seed);
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  const [main, ...others] = weights;
  let left = relations - ofHubs;
  const share = left / total;
  for (const [type, weight] of others) {
    const count = Math.min(Math.floor(share * weight), capacity(shape, type));
    yield* ordinaryPairs(shape, type, count, seed);
    left -= count;
  }
  if (left > capacity(shape, main![0]))
    throw new RangeError(`${relations} relations are too many for the cards`);
  yield* ordinaryPairs(shape, main![0], left, seed);
}

/**
 * The relations of the bench landscape, one by one and none twice: the same for the same sizes and seed. One
 * card has a sixtieth of them (5,000 of 300,000), one card in a hundred over a hundred.
 */
export function* benchRelations({ cards, relations, seed }: BenchRelationsOptions): Generator<BenchRelation> {
  const shape = shapeOf(cards);
  let number = 0;
  for (const { type, source, target } of pairs(shape, relations, seed)) {
    const relationType = typesByKey.get(type)!;
    const random = mulberry32(mix(seed, number, 17));
    number += 1;
    const relation: BenchRelation = {
      type,
      source_external_id: externalId(shape.of(relationType.source_type_key), source),
      target_external_id: externalId(shape.of(relationType.target_type_key), target),
      attributes: attributesOf(relationType, random),
    };
    if (random() < 0.1) relation.description = `Agreed in ticket ${Math.floor(random() * 90_000) + 10_000}.`;
    yield relation;
  }
}
