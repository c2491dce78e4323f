import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import type { ReadFormula } from '../../kernel/formulas/calculations.plan.ts';
import { evaluateFormula, type FormulaNames } from '../../kernel/formulas/formula.evaluate.ts';
import type { FormulaLine } from '../../kernel/formulas/formula.parse.ts';
import { FormulaError, type FormulaValue } from '../../kernel/formulas/formula.values.ts';
import type { Condition, Fragment } from '../../kernel/lists/lists.types.ts';
import type { CardType, CompiledField, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { CardColumns } from '../cards/cards.model.ts';
import { ownValue } from '../cards/rules/diff.ts';
import { checkValue } from '../cards/rules/values.ts';

/** The values of a card that its own formulas can read. */
export interface OwnCard
  extends Pick<CardColumns, 'id' | 'name' | 'alias' | 'description' | 'subtype' | 'external_id' | 'status'> {
  lifecycle: object | null;
  attributes: Record<string, unknown>;
  /** Attributes that are currently sums of lines. */
  sums?: Readonly<Record<string, number | null>>;
}

/** What is omitted from the inputs because the caller may not see it. */
interface InputLimits {
  /** A condition that selects the visible other cards, over the alias `c`. */
  visible: Condition;
  /** Whether costs of other cards and of relations are visible. */
  otherCosts: boolean;
}

type Item = { [key: string]: FormulaValue };

/** Related cards, children and counts of cards, by card and relation type. */
export interface RelatedValues {
  relations: Map<string, Map<string, Item[]>>;
  counts: Map<string, Map<string, number>>;
  children: Map<string, Item[]>;
  childrenCount: Map<string, number>;
}

/** The columns of the queries below: an item or a number for a card, with the relation type if it comes from a relation. */
interface RelatedRow {
  card_id: string;
  type: string;
  item: Item;
  number: number;
}

export const noRelatedValues: RelatedValues = {
  relations: new Map(),
  counts: new Map(),
  children: new Map(),
  childrenCount: new Map(),
};

/** The names that a formula reads from a card; contains only those that it uses. */
export function namesFor(
  { reads }: ReadFormula,
  type: CardType,
  card: OwnCard,
  around: RelatedValues,
  costs = true,
): FormulaNames {
  const record = <T extends FormulaValue>(keys: Iterable<string>, value: (key: string) => T) =>
    Object.assign(Object.create(null), Object.fromEntries([...keys].map((key) => [key, value(key)])));
  return {
    data: record(reads.data, (key) => {
      const field = type.fields.get(key);
      if (field)
        return field.type === 'cost' && !costs ? null : (ownValue(card.attributes, key) as FormulaValue);
      return (card[key as keyof OwnCard] ?? null) as FormulaValue;
    }),
    relations: record(reads.relations, (key) => around.relations.get(card.id)?.get(key) ?? []),
    relation_count: record(reads.counts, (key) => around.counts.get(card.id)?.get(key) ?? 0),
    children: around.children.get(card.id) ?? [],
    children_count: around.childrenCount.get(card.id) ?? 0,
  };
}

/** Each relation of the types, from the side of one of the cards, unless the card at the other end is archived. */
const peersOf = (ids: string[], types: ReadonlySet<string>): Fragment => fragment`from (
    select r.id, r.type, r.source_id as card_id, r.target_id as peer_id, r.attributes
    from relations r where r.source_id = any(${ids}::uuid[]) and r.type = any(${[...types]}::text[])
    union all
    select r.id, r.type, r.target_id, r.source_id, r.attributes
    from relations r where r.target_id = any(${ids}::uuid[]) and r.type = any(${[...types]}::text[])
      and r.source_id <> r.target_id
  ) r join cards c on c.id = r.peer_id and c.status = 'ACTIVE'`;

/**
 * Reads the related active cards and active children that a formula uses, one statement for each kind, in the order of
 * creation, and at most the number of items that a formula may read.
 */
export async function readSurroundings(
  sql: Sql,
  metamodel: Metamodel,
  { reads }: ReadFormula,
  ids: string[],
  limits?: InputLimits,
): Promise<RelatedValues> {
  const around: RelatedValues = {
    relations: new Map(),
    counts: new Map(),
    children: new Map(),
    childrenCount: new Map(),
  };
  const visible: Condition = limits?.visible ?? fragment`true`;
  const hidden = limits && !limits.otherCosts ? costPairs(metamodel) : { types: [], keys: [] };
  /** The members of an object's attributes that the formula reads, without costs that are not visible. */
  const picked = (object: string): Fragment => fragment`(
    select coalesce(jsonb_object_agg(k, ${embed(object)}.attributes -> k), '{}')
    from unnest(${[...reads.members]}::text[]) k
    where jsonb_exists(${embed(object)}.attributes, k)
      and not exists (select from unnest(${hidden.types}::text[], ${hidden.keys}::text[]) as h(type, key)
                      where h.type = ${embed(object)}.type and h.key = k))`;
  const named = reads.members.has('name') ? ", 'name', c.name" : '';
  const item = fragment`jsonb_build_object('id', c.id, 'type', c.type,
    'attributes', ${embed(picked('c'))}${embed(named)})`;
  if (reads.relations.size > 0) {
    const rows = await query(sql).rows<RelatedRow>`select r.card_id, r.type,
         ${embed(item)} || jsonb_build_object('rel_attributes', ${embed(picked('r'))}) as item
       ${embed(peersOf(ids, reads.relations))} and (${embed(visible)}) order by r.card_id, r.id`;
    for (const row of rows) {
      const byType = entry(around.relations, row.card_id, () => new Map<string, Item[]>());
      entry(byType, row.type, () => []).push(row.item);
    }
  }
  if (reads.counts.size > 0) {
    const rows = await query(sql).rows<RelatedRow>`select r.card_id, r.type, count(*)::int as number
       ${embed(peersOf(ids, reads.counts))} and (${embed(visible)}) group by 1, 2`;
    for (const row of rows) {
      entry(around.counts, row.card_id, () => new Map<string, number>()).set(row.type, row.number);
    }
  }
  const childrenOf = fragment`from cards c
    where c.parent_id = any(${ids}::uuid[]) and c.status = 'ACTIVE' and (${embed(visible)})`;
  if (reads.children) {
    const rows = await query(sql).rows<RelatedRow>`select c.parent_id as card_id, ${embed(item)} as item
       ${embed(childrenOf)} order by c.parent_id, c.id`;
    for (const row of rows) entry(around.children, row.card_id, () => []).push(row.item);
  }
  if (reads.childrenCount) {
    const rows = await query(sql).rows<RelatedRow>`select c.parent_id as card_id, count(*)::int as number
       ${embed(childrenOf)} group by 1`;
    for (const row of rows) around.childrenCount.set(row.card_id, row.number);
  }
  return around;
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const there = map.get(key) ?? make();
  map.set(key, there);
  return there;
}

/** Each cost field with its card type. */
function costPairs({ cardTypes, relationTypes }: Metamodel): { types: string[]; keys: string[] } {
  const pairs = [...cardTypes.values(), ...relationTypes.values()].flatMap((type) =>
    type.costKeys.map((key) => [type.key, key] as const),
  );
  return { types: pairs.map(([type]) => type), keys: pairs.map(([, key]) => key) };
}

/** A value for the field, or the reason why there is none. */
type Computed = { value: FormulaValue; error?: undefined } | { value?: undefined; error: string };

/** The maximum number of items in a list result; no field has more options. */
const MAX_ITEMS = 1_000;

/** Evaluates a formula. Without a field, any value that a response can contain is valid. Null means "no value". */
export function computeValue(lines: FormulaLine[], names: FormulaNames, field?: CompiledField): Computed {
  try {
    return { value: fitting(evaluateFormula(lines, names), field) };
  } catch (error) {
    if (error instanceof FormulaError) return { error: error.message };
    throw error;
  }
}

function fitting(value: FormulaValue, field: CompiledField | undefined): FormulaValue {
  if (value === null || value === '') return null;
  if (Array.isArray(value)) {
    if (value.length === 0) return null;
    // A list may contain itself many times: it is not traversed.
    if (value.length > MAX_ITEMS || value.some((item) => item !== null && typeof item === 'object')) {
      throw new FormulaError('The result is no single value and no short list of them.');
    }
  } else if (typeof value === 'object') throw new FormulaError('The result is no single value.');
  // PostgreSQL cannot store NUL in text.
  if (typeof value === 'string' && value.includes('\u0000'))
    throw new FormulaError('The text has a NUL in it.');
  const failure = field && checkValue(field, field.key, value);
  if (failure) throw new FormulaError(`The result does not fit the field: it ${failure.message}.`);
  return value;
}
