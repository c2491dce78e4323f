import type { Formula } from '../../kernel/formulas/calculations.plan.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type Changes, ownValue, sameValue } from '../cards/rules/diff.ts';
import { namesFor, noSurroundings, type OwnCard, type Surroundings } from './calculations.inputs.ts';
import { computeValue } from './calculations.value.ts';

/** How each formula that ran ended last: its error, or null. */
export interface Runs {
  last: Map<string, string | null>;
  /** How many values could not be computed. */
  errors: number;
  /** How many cards got other values from formulas that read more than the card, or were asked for. */
  updated: number;
}

export const noRuns = (): Runs => ({ last: new Map(), errors: 0, updated: 0 });

/** Keys of changes of a card, such as `name` or `attributes.costTotalAnnual`. */
export type ChangedKeys = ReadonlySet<string>;

/** Whether a card's own changes concern a formula of it: what it reads, or what it has computed. */
export function touchesOwn({ reads, field }: Formula, keys: ChangedKeys): boolean {
  if (keys.has(`attributes.${field}`)) return true;
  for (const key of keys) {
    const dot = key.indexOf('.');
    const name = dot < 0 ? key : key.startsWith('attributes.') ? key.slice(dot + 1) : key.slice(0, dot);
    if (reads.data.has(name)) return true;
  }
  return false;
}

/** The card with the value that the formula computes; one that cannot be computed, or is a sum of lines, stays as it is. */
export function withValue<T extends OwnCard>(
  formula: Formula,
  type: CardType,
  card: T,
  around: Surroundings,
  runs: Runs,
): T {
  const field = type.fields.get(formula.field)!;
  // what lines come to is no formula's affair
  if (field.type === 'cost' && Object.hasOwn(card.sums ?? {}, formula.field)) return card;
  const { value, error } = computeValue(formula.lines, namesFor(formula, type, card, around), field);
  if (error !== undefined) {
    runs.errors += 1;
    runs.last.set(formula.id, error);
    return card;
  }
  // an error of another card in the same run is not forgotten
  if (!runs.last.has(formula.id)) runs.last.set(formula.id, null);
  if (sameValue(ownValue(card.attributes, formula.field), value)) return card;
  const attributes = new Map(Object.entries(card.attributes));
  if (value === null) attributes.delete(formula.field);
  else attributes.set(formula.field, value);
  return { ...card, attributes: Object.fromEntries(attributes) };
}

/**
 * The card after the formulas that read nothing but itself. `changes` is what has been written to it; null for a new
 * card, of which all are computed.
 */
export function withLocalValues<T extends OwnCard>(
  { calculations }: Metamodel,
  type: CardType,
  card: T,
  changes: Changes | null,
  runs: Runs,
): T {
  const formulas = calculations.byType.get(type.key);
  if (!formulas) return card;
  const keys = new Set(Object.keys(changes ?? {}));
  let after = card;
  for (const formula of formulas) {
    if (!formula.local || (changes && !touchesOwn(formula, keys))) continue;
    const next = withValue(formula, type, after, noSurroundings, runs);
    if (next !== after) keys.add(`attributes.${formula.field}`);
    after = next;
  }
  return after;
}
