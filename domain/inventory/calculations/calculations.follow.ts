import { queryRows } from '../../../platform/database.ts';
import type { Work } from '../../kernel/context.ts';
import { type Formula, peerTypes } from '../../kernel/formulas/calculations.plan.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type ChangedKeys, touchesOwn } from './calculations.local.ts';

/** Formulas with the cards for which they are to be run. */
export type Seeds = Map<Formula, Set<string>>;

/** A card that was written, as far as formulas are concerned. */
export interface Touched {
  id: string;
  type: string;
  keys: ChangedKeys;
  /** It is new, gone, or was archived or restored: it counts among others, or no longer. */
  counted: boolean;
  created: boolean;
  /** The parents before and after, where there are any. */
  parents: string[];
  /** The formula that has just written it, which need not run again. */
  by?: Formula;
}

/** Notes cards for a formula. */
export function seed(seeds: Seeds, formula: Formula, ids: Iterable<string>): void {
  const there = seeds.get(formula) ?? new Set();
  for (const id of ids) there.add(id);
  if (there.size > 0) seeds.set(formula, there);
}

/** Whether a formula reads of another card what has changed of it. */
function reads({ reads: { members } }: Formula, keys: ChangedKeys): boolean {
  for (const key of keys) {
    if (members.has(key.startsWith('attributes.') ? key.slice('attributes.'.length) : key)) return true;
  }
  return false;
}

/**
 * Notes which formulas must run for which cards after cards were written: their own, those of related cards, and those of
 * parents. One statement for each formula that reads over a relation.
 */
export async function follow(
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
    seed(
      seeds,
      formula,
      own.map(({ id }) => id),
    );
    if (formula.local) continue;
    const { children, childrenCount } = formula.reads;
    if (children || childrenCount) {
      const below = touched.filter(
        (card) =>
          card.type === formula.type &&
          (card.counted || card.keys.has('parent_id') || (children && reads(formula, card.keys))),
      );
      seed(
        seeds,
        formula,
        below.flatMap(({ parents }) => parents),
      );
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
      // a new card has no relations yet
      .filter((card) => types.includes(card.type) && !card.created)
      .filter((card) => card.counted || (relations.has(key) && reads(formula, card.keys)))
      .map(({ id }) => id);
    if (ids.length === 0) continue;
    const rows = await queryRows<{ id: string }>(
      sql,
      `select c.id from (
         select target_id as id from relations where type = ? and source_id = any(?::uuid[])
         union
         select source_id from relations where type = ? and target_id = any(?::uuid[])
       ) r join cards c on c.id = r.id and c.type = ?`,
      [key, ids, key, ids, formula.type],
    );
    seed(
      seeds,
      formula,
      rows.map(({ id }) => id),
    );
  }
}

/** A relation that was made, changed or deleted. */
export interface TouchedRelation {
  type: string;
  source_id: string;
  target_id: string;
  /** Keys of its attributes that changed, or null where it is new or gone. */
  attributes: ReadonlySet<string> | null;
}

/** The formulas that must run for the ends of relations. */
export function followEnds(metamodel: Metamodel, relations: TouchedRelation[]): Seeds {
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
