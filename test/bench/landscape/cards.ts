import { cardTypeSeeds } from '../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { attributesOf, lifecycleOf } from './attributes.ts';
import { benchTags, benchUsers } from './people.ts';
import { mix, mulberry32, pick } from './random.ts';
import { externalId, leavesOf, placeInTree, shapeOf, type TypeShape } from './shape.ts';
import { descriptionOf, MAX_CARDS, nameOf } from './texts.ts';

/** A card as an import row; `tags` hold `Group/Tag`, `stakeholders` hold `role:email`. */
export interface BenchCard {
  type: string;
  subtype?: string;
  external_id: string;
  parent_external_id?: string;
  name: string;
  alias?: string;
  description: string;
  status: 'ACTIVE' | 'ARCHIVED';
  lifecycle?: Record<string, string>;
  attributes: Record<string, unknown>;
  tags?: string[];
  stakeholders?: string[];
}

export interface BenchCardsOptions {
  /** How many; from 1,000 on. */
  cards: number;
  seed: number;
}

const ARCHIVED = 0.05;
const HALF = 0.5;

const seeds = new Map(cardTypeSeeds.map((type) => [type.key, type]));

function cardAt(shape: TypeShape, at: number, seed: number, archivedAmongLeaves: number): BenchCard {
  const number = shape.first + at;
  const random = mulberry32(mix(seed, number));
  const { name, coined, subject } = nameOf(shape.type, number, seed, random);
  const { parent, leaf } = placeInTree(shape, at);
  const seedType = seeds.get(shape.type)!;
  const card: BenchCard = {
    type: shape.type,
    external_id: externalId(shape, at),
    name,
    description: descriptionOf(subject, random),
    // an archived card has no children, so that no active one hangs below it
    status: leaf && random() < archivedAmongLeaves ? 'ARCHIVED' : 'ACTIVE',
    attributes: attributesOf(shape.type, coined, random),
  };
  if (seedType.subtypes.length > 0) card.subtype = pick(random, seedType.subtypes).key;
  if (parent !== undefined) card.parent_external_id = externalId(shape, parent);
  if (random() < 0.25) card.alias = `${coined.slice(0, 4).toUpperCase()}${number % 1000}`;
  if (random() < HALF) card.lifecycle = lifecycleOf(random);
  if (random() < HALF) card.tags = [pick(random, benchTags)];
  if (random() < HALF)
    card.stakeholders = [`${pick(random, seedType.stakeholder_roles).key}:${pick(random, benchUsers).email}`];
  return card;
}

/**
 * The cards of the bench landscape, one by one, type after type, parents before children: the same for the same
 * size and seed.
 */
export function* benchCards({ cards, seed }: BenchCardsOptions): Generator<BenchCard> {
  if (cards > MAX_CARDS) throw new RangeError(`names suffice for ${MAX_CARDS} cards, not for ${cards}`);
  const shape = shapeOf(cards);
  const archivedAmongLeaves = (ARCHIVED * cards) / leavesOf(shape);
  for (const type of shape.types) {
    for (let at = 0; at < type.count; at += 1) yield cardAt(type, at, seed, archivedAmongLeaves);
  }
}
