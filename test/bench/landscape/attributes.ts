import { cardTypeSeeds } from '../../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import type { Field, Section } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { between, type Random } from './random.ts';
import { fill } from './texts.ts';
import words from './words.json' with { type: 'json' };

/** At most so many attributes of a card are filled; at least `FEWEST`. */
const MOST = 12;
const FEWEST = 8;

const custom = (type: Field['type'], key: string, label: string): Field => ({ key, label, type, weight: 1 });

/** Fields that a company adds to its metamodel, in the order in which types with too few of their own get them. */
const customFields: Field[] = [
  custom('text', 'costCentre', 'Cost Centre'),
  custom('date', 'reviewDate', 'Next Review'),
  custom('cost', 'runCost', 'Run Cost'),
  custom('number', 'riskScore', 'Risk Score'),
  custom('text', 'site', 'Site'),
  custom('date', 'lastAudit', 'Last Audit'),
  custom('number', 'tickets', 'Tickets per Year'),
  custom('text', 'budgetCode', 'Budget Code'),
  custom('number', 'rank', 'Rank'),
  custom('cost', 'projectCost', 'Project Cost'),
  custom('text', 'wave', 'Wave'),
  custom('number', 'users', 'Users'),
];

const ownFields = new Map(
  cardTypeSeeds.map((type) => [type.key, type.fields_schema.flatMap((section) => section.fields)]),
);

/**
 * The section that the bench adds to each card type, because most have fewer than eight fields of their own:
 * with it, every type has twelve.
 */
export const benchExtraFields: { type: string; section: Section }[] = [...ownFields].map(([type, own]) => ({
  type,
  section: { section: 'Company Data', fields: customFields.slice(0, MOST - own.length) },
}));

/** The fields of a type that a row fills: not those that the service computes. */
const fillable = new Map(
  benchExtraFields.map(({ type, section }) => [
    type,
    [...ownFields.get(type)!, ...section.fields].filter((field) => !field.readonly),
  ]),
);

/** Keys of all attributes that occur in the landscape. */
export const benchAttributeKeys: string[] = [
  ...new Set([...fillable.values()].flatMap((fields) => fields.map((field) => field.key))),
];

const isoDay = (random: Random, fromYear: number, toYear: number): string =>
  `${between(random, fromYear, toYear)}-${String(between(random, 1, 12)).padStart(2, '0')}-${String(between(random, 1, 28)).padStart(2, '0')}`;

/** Money spreads over several orders of magnitude, as budgets do. */
const money = (random: Random): number => Math.round(10 ** (3 + random() * 3.3) * 100) / 100;

const texts: Record<string, string> = words.attributes;
const highest: Record<string, number> = words.highest;

function valueFor(field: Field, random: Random, coined: string): unknown {
  switch (field.type) {
    case 'single_select':
      // earlier options are chosen more often
      return field.options![Math.floor(random() ** 1.4 * field.options!.length)]!.key;
    case 'boolean':
      return random() < 0.5;
    case 'cost':
      return money(random);
    case 'number':
      return between(random, 0, highest[field.key]!);
    case 'date':
      return isoDay(random, 2022, 2032);
    default: {
      const template = texts[field.type === 'url' ? 'url' : field.key]!;
      return fill(template, random, { coined, host: coined.toLowerCase() });
    }
  }
}

/** Eight is the commonest number, twelve the rarest. */
const filledCount = (random: Random): number => FEWEST + Math.floor((MOST - FEWEST + 1) * random() ** 2.2);

/** The attributes of one card: 8 to 12 with the computed ones, always with the required ones and the costs. */
export function attributesOf(type: string, coined: string, random: Random): Record<string, unknown> {
  const fields = fillable.get(type)!;
  const computed = MOST - fields.length;
  const always = fields.filter((field) => field.required || field.type === 'cost').length;
  let wanted = filledCount(random) - computed - always;
  let others = fields.length - always;
  const attributes: Record<string, unknown> = {};
  for (const field of fields) {
    if (!field.required && field.type !== 'cost') {
      const take = random() * others < wanted;
      others -= 1;
      if (!take) continue;
      wanted -= 1;
    }
    attributes[field.key] = valueFor(field, random, coined);
  }
  return attributes;
}

/** Two to five phases in order, over some fifteen years. */
export function lifecycleOf(random: Random): Record<string, string> {
  let year = between(random, 2005, 2024);
  const lifecycle: Record<string, string> = {};
  for (const [phase, chance] of [
    ['plan', 0.3],
    ['phaseIn', 0.35],
    ['active', 1],
    ['phaseOut', 0.4],
    ['endOfLife', 0.6],
  ] as const) {
    if (random() >= chance) continue;
    lifecycle[phase] = isoDay(random, year, year);
    year += between(random, 1, 4);
  }
  return lifecycle;
}
