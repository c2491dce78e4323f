import { query } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { type Formula, peerTypes } from '../../kernel/formulas/calculations.plan.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type Changes, ownValue, sameValue } from '../cards/rules/diff.ts';
import type { StoredRelation } from '../relations/relations.model.ts';
import {
  computeValue,
  namesFor,
  noRelatedValues,
  type OwnCard,
  type RelatedValues,
} from './calculations.inputs.ts';

/** Formulas with the cards that each must be run for. */
export type Seeds = Map<Formula, Set<string>>;

/** The facts about a written card that formulas depend on. */
interface Touched {
  id: string;
  type: string;
  keys: ChangedKeys;
  /** The card was created, deleted, archived or restored, so it enters or leaves the sets that formulas read. */
  counted: boolean;
  created: boolean;
  /** The parents before and after the write, if any. */
  parents: string[];
  /** The formula that wrote the card, which need not run again. */
  by?: Formula;
}

/** Adds cards to those that a formula must run for. */
export function seed(seeds: Seeds, formula: Formula, ids: Iterable<string>): void {
  const there = seeds.get(formula) ?? new Set();
  for (const id of ids) there.add(id);
  if (there.size > 0) seeds.set(formula, there);
}

/** Whether a formula reads one of the changed values from a related card. */
function reads({ reads: { members } }: Formula, keys: ChangedKeys): boolean {
  for (const key of keys) {
    if (members.has(key.startsWith('attributes.') ? key.slice('attributes.'.length) : key)) return true;
  }
  return false;
}

/**
 * Collects which formulas must run for which cards after cards were written: their own, those of related cards, and
 * those of parents. One statement for each formula that reads over a relation.
 */
export async function collectDependents(
  { sql, metamodel }: Pick<Work, 'sql' | 'metamodel'>,
  seeds: Seeds,
  touched: Touched[],
): Promise<void> {
  const { formulas } = metamodel.calculations;
  for (const formula of formulas) {
    const own = touched.filter(
      (card) =>
        card.type === formula.type &&
        card.by !== formula &&
        (card.created ? !formula.local : touchesOwn(formula, card.keys) && !(formula.local && !card.by)),
    );
    const ids = own.map(({ id }) => id);
    seed(seeds, formula, ids);
    if (formula.local) continue;
    const { children, childrenCount } = formula.reads;
    if (children || childrenCount) {
      const below = touched.filter(
        (card) =>
          card.type === formula.type &&
          (card.counted || card.keys.has('parent_id') || (children && reads(formula, card.keys))),
      );
      const parents = below.flatMap(({ parents }) => parents);
      seed(seeds, formula, parents);
    }
    await followRelations(sql, metamodel, seeds, formula, touched);
  }
}

async function followRelations(
  sql: Work['sql'],
  metamodel: Metamodel,
  seeds: Seeds,
  formula: Formula,
  touched: Touched[],
): Promise<void> {
  const { relations, counts } = formula.reads;
  for (const key of new Set([...relations, ...counts])) {
    const types = peerTypes(metamodel, key, formula.type);
    const ids = touched
      // A new card has no relations yet.
      .filter((card) => types.includes(card.type) && !card.created)
      .filter((card) => card.counted || (relations.has(key) && reads(formula, card.keys)))
      .map(({ id }) => id);
    if (ids.length === 0) continue;
    const peers = await query(sql).column<string>`select c.id from (
         select target_id as id from relations where type = ${key} and source_id = any(${ids}::uuid[])
         union
         select source_id from relations where type = ${key} and target_id = any(${ids}::uuid[])
       ) r join cards c on c.id = r.id and c.type = ${formula.type}`;
    seed(seeds, formula, peers);
  }
}

/** A relation that was made, changed or deleted. */
export interface TouchedRelation extends Pick<StoredRelation, 'type' | 'source_id' | 'target_id'> {
  /** Keys of its attributes that changed; null if it was created or deleted. */
  attributes: ReadonlySet<string> | null;
}

/** The formulas that must run for the ends of relations. */
export function seedsOfRelations(metamodel: Metamodel, relations: TouchedRelation[]): Seeds {
  const seeds: Seeds = new Map();
  for (const formula of metamodel.calculations.formulas) {
    const { reads: read, type } = formula;
    for (const relation of relations) {
      const lists = read.relations.has(relation.type);
      if (!lists && !read.counts.has(relation.type)) continue;
      const changed = relation.attributes;
      if (changed && !(lists && [...changed].some((key) => read.members.has(key)))) continue;
      const ends = metamodel.relationTypes.get(relation.type)!;
      if (ends.source_type_key === type) seed(seeds, formula, [relation.source_id]);
      if (ends.target_type_key === type) seed(seeds, formula, [relation.target_id]);
    }
  }
  return seeds;
}

/** The latest result of each formula that ran: its error, or null. */
export interface Runs {
  last: Map<string, string | null>;
  /** Number of values that could not be computed. */
  errors: number;
  /** Number of cards whose values were changed by formulas that read other cards or were run explicitly. */
  updated: number;
}

export const noRuns = (): Runs => ({ last: new Map(), errors: 0, updated: 0 });

/** Keys of changes of a card, such as `name` or `attributes.costTotalAnnual`. */
type ChangedKeys = ReadonlySet<string>;

/** Whether the changes of a card concern its formula: a value that it reads or the value that it computes. */
function touchesOwn({ reads, field }: Formula, keys: ChangedKeys): boolean {
  if (keys.has(`attributes.${field}`)) return true;
  for (const key of keys) {
    const dot = key.indexOf('.');
    const name = dot < 0 ? key : key.startsWith('attributes.') ? key.slice(dot + 1) : key.slice(0, dot);
    if (reads.data.has(name)) return true;
  }
  return false;
}

/** The card with the computed value; unchanged if the value cannot be computed or is a sum of lines. */
export function withValue<T extends OwnCard>(
  formula: Formula,
  type: CardType,
  card: T,
  around: RelatedValues,
  runs: Runs,
): T {
  const field = type.fields.get(formula.field)!;
  // Sums of lines are not computed by formulas.
  if (field.type === 'cost' && Object.hasOwn(card.sums ?? {}, formula.field)) return card;
  const { value, error } = computeValue(formula.lines, namesFor(formula, type, card, around), field);
  if (error !== undefined) {
    runs.errors += 1;
    runs.last.set(formula.id, error);
    return card;
  }
  // Retain an error that another card had in the same run.
  if (!runs.last.has(formula.id)) runs.last.set(formula.id, null);
  if (sameValue(ownValue(card.attributes, formula.field), value)) return card;
  const attributes = new Map(Object.entries(card.attributes));
  if (value === null) attributes.delete(formula.field);
  else attributes.set(formula.field, value);
  return { ...card, attributes: Object.fromEntries(attributes) };
}

/**
 * The card after the formulas that read only the card itself. `changes` is what was written to it; null for a new card,
 * for which all formulas run.
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
    const next = withValue(formula, type, after, noRelatedValues, runs);
    if (next !== after) keys.add(`attributes.${formula.field}`);
    after = next;
  }
  return after;
}
