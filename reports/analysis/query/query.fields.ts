import {
  FILTER_HOPS,
  type FilterField,
  type FilterTarget,
  type RelationStep,
  resolveField,
} from '../../../domain/inventory/filters/filters.fields.ts';
import { parsePath } from '../../../domain/inventory/filters/filters.parser.ts';
import type { FilterSchema } from '../../../domain/inventory/filters/filters.schema.ts';
import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import { type FilterWord, filterError } from '../../../domain/inventory/filters/filters.types.ts';
import type { createNodes, Entity, Place, QueryNode } from './query.tree.ts';
import { costsOf, phase, scalar, typeOf, type ValueType } from './query.values.ts';

/** The context in which fields are resolved. */
export interface FieldScope {
  schema: FilterSchema;
  /** The types of the queried cards. */
  types: ReadonlySet<string>;
  root: Place;
  nodes: ReturnType<typeof createNodes>;
}

/** A resolved field of a query with its node. */
export interface QueryField {
  /** Absent: the cards themselves. */
  node?: QueryNode;
  entity: Entity;
  /** Absent: the entity at the end of the path. */
  value?: Fragment;
  type: ValueType;
  /** Whether a card can have several values. */
  isList: boolean;
  /** Whether it reads people. */
  people: boolean;
  relations: boolean;
  cost: boolean;
  unit?: 'currency' | 'percent';
  /** The end of the path, for titles and labels. */
  shows: ShownField;
}

/** The last element of a path. */
export interface ShownField {
  /** Absent: the relations themselves, or the lifecycle phase on a day. */
  target?: FilterTarget;
  isPhase: boolean;
  /** The costs of a fiscal year, of one kind or of all. */
  costs?: CostPeriod;
  /** Its possible card types, or the relation type. */
  of: { cards: ReadonlySet<string> } | { relation: string };
  /** Whether the path has relations. */
  isFar: boolean;
}

/** A fiscal year, and a kind of costs. */
export interface CostPeriod {
  year: number;
  kind?: string;
}

/** The alias of the queried cards. */
export const ROOT = 'c';

const oppositeOf = (end: 'source' | 'target') => (end === 'source' ? 'target' : 'source');

/** Whether the path ends in the computed field `phase`, not in a name of the metamodel. */
function endsInPhase(path: FilterWord[]): boolean {
  const before = path.at(-2)?.text;
  const isField = path.length === 1 || (path.length >= 4 && (before === 'source' || before === 'target'));
  return path.at(-1)!.text === 'phase' && isField;
}

/** The fiscal year and kind that a path ends in, as in `cost.2026.licence`, and what is before. */
function costsAtEnd(path: FilterWord[]): { costs: CostPeriod; way: FilterWord[] } | undefined {
  const at = path.length - (path.at(-2)?.text === 'cost' ? 2 : 3);
  const [root, year, kind] = path.slice(Math.max(0, at));
  const before = path[at - 1]?.text;
  const isField = at === 0 || (at >= 3 && (before === 'source' || before === 'target'));
  if (root?.text !== 'cost' || !isField || !/^(19|20|21)\d\d$/.test(year?.text ?? '')) return undefined;
  return { costs: { year: Number(year!.text), ...(kind && { kind: kind.text }) }, way: path.slice(0, at) };
}

/**
 * Resolves the path of a dimension or measure.
 * @param at the day of a lifecycle phase, YYYY-MM-DD.
 * @throws EstateError `filter_syntax`, `filter_unknown_field`, `filter_limit`.
 */
export function resolveQueryField(text: string, at: string, scope: FieldScope): QueryField {
  const path = parsePath(text);
  const isPhase = endsInPhase(path);
  const period = costsAtEnd(path);
  const way = isPhase ? path.slice(0, -1) : (period?.way ?? path);
  const field: FilterField =
    way.length > 0 ? resolveField(way, scope.schema) : { steps: [], rules: [], cost: false };
  const steps = field.steps.filter((step) => step.kind === 'relation');
  const { target } = field;
  if (steps.length < field.steps.length || target?.kind === 'flow') {
    const { position } = path.find(({ text }) => text === 'flow')!;
    throw filterError('filter_unknown_field', 'queries do not read data flows, except in filters,', position);
  }
  const { node, place, alias, entity, types } = follow(steps, path, scope);
  const last = steps.at(-1);
  const common = {
    entity,
    people: field.target?.kind === 'people',
    relations: steps.length > 0,
    cost: field.cost || period !== undefined,
    isList: false,
    shows: {
      ...(target ? { target } : {}),
      ...(period && { costs: period.costs }),
      isPhase,
      of: last?.about === 'relation' ? { relation: last.type } : { cards: types },
      isFar: last !== undefined,
    },
  };
  const onNode = node ? { node } : {};
  if (isPhase || target?.kind === 'phase')
    return { ...common, ...onNode, type: 'key', value: phase(alias, at) };
  if (period)
    return { ...common, ...onNode, type: 'number', value: costsOf(alias, period.costs), unit: 'currency' };
  if (!target) return { ...common, ...onNode, type: 'key' };
  const type = typeOf(field);
  const listed = (list: QueryNode): QueryField => ({
    ...common,
    node: list,
    entity: 'card',
    value: list.member!,
    type: target.kind === 'tags' ? 'text' : 'key',
    isList: true,
  });
  if (target.kind === 'tags') return listed(scope.nodes.tags(place, target.group?.id));
  if (target.kind === 'people') return listed(scope.nodes.people(place, target.role));
  if (target.kind === 'attribute' && field.rules.some(({ kind }) => kind === 'keys')) {
    return listed(scope.nodes.options(place, target.key));
  }
  const isQuality = target.kind === 'column' && target.column === 'data_quality';
  return {
    ...common,
    ...onNode,
    type,
    value: scalar(alias, target, type),
    ...(field.cost ? { unit: 'currency' } : isQuality ? { unit: 'percent' } : {}),
  };
}

/** Follows the relations and creates their nodes. */
function follow(steps: RelationStep[], path: FilterWord[], scope: FieldScope) {
  let place = scope.root;
  let types = scope.types;
  let node: QueryNode | undefined;
  let alias = ROOT;
  let entity: Entity = 'card';
  for (const [hop, step] of steps.entries()) {
    const near = (['source', 'target'] as const).filter(
      (end) => types.has(step.ends[end]) && step.other !== end,
    );
    if (near.length === 0) {
      // each hop has three words: relation, type and direction
      const word = path[Math.min(hop, FILTER_HOPS) * 3 + 1] ?? path[0]!;
      const message = `no card of the queried types has a relation "${step.type}" in this direction`;
      throw filterError('filter_unknown_field', message, word.position);
    }
    // if only one end matches, the other end is determined without a direction
    const other = step.other ?? (near.length === 1 ? oppositeOf(near[0]!) : undefined);
    node = scope.nodes.relation(place, { ...step, ...(other ? { other } : {}) });
    entity = step.about;
    alias = `${step.about === 'card' ? 'c' : 'r'}${node.n}`;
    place = placeIn(node, alias);
    types = new Set(other ? [step.ends[other]] : [step.ends.source, step.ends.target]);
  }
  return { place, node, alias, entity, types };
}

/** Access to a node's cards, or to its relations. */
const placeIn = (node: QueryNode, alias: string): Place => ({
  id: raw(`${alias}.id`),
  name: alias,
  children: node.children,
  attribute: (key) => sql`${raw(alias)}.attributes -> ${key}::text`,
});
