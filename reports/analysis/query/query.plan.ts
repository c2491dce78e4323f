import type {
  QueryDimension,
  QueryMeasure,
  ReportQuery,
} from '../../../domain/exchange/exports/report-query.job.ts';
import { visibleCards } from '../../../domain/inventory/cards/cards.visible.ts';
import { prepareFilter } from '../../../domain/inventory/filters/filters.prepare.ts';
import {
  createFilterSchema,
  type FilterSchema,
  type FilterScope,
} from '../../../domain/inventory/filters/filters.schema.ts';
import { combine, type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { forbidden, may } from '../../../domain/kernel/permissions/policy.ts';
import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { type QueryField, ROOT, resolveQueryField, type ShownField } from './query.fields.ts';
import { createNodes, type NodeValue, type Place, type QueryNode } from './query.tree.ts';
import { bucketed, type ValueType } from './query.values.ts';

/** A column of the answer. */
export interface QueryColumn {
  name: string;
  type: ValueType;
  unit?: 'currency' | 'percent';
  /** What it is made of; absent: the cards themselves. */
  shows?: ShownField;
}

/** A measure with where its values come from. */
export interface PlannedMeasure {
  fn: QueryMeasure['fn'];
  /** Of percentiles. */
  p: number;
  /** Absent: the cards themselves. */
  node?: QueryNode;
  entity: QueryField['entity'];
  /** Absent: what is there is counted. */
  value?: NodeValue;
  isList: boolean;
}

/** A query that is known to fit the metamodel and the caller's rights. */
export interface QueryPlan {
  /** The cards it is about, over the alias `c`. */
  cards: Fragment;
  /** What is read of each card. */
  keys: NodeValue[];
  values: NodeValue[];
  /** Attributes that hold several options, each as jsonb. */
  lists: { column: string; value: Fragment }[];
  children: ReadonlyMap<string, QueryNode>;
  /** Columns of the dimensions in order. */
  dimensions: { column: string; type: ValueType }[];
  measures: PlannedMeasure[];
  columns: QueryColumn[];
  having: { measure: number; op: string; value: number }[];
  sort: { column: number; dir: 'asc' | 'desc' }[];
  /** Whether costs stand in the answer, or can be concluded from it. */
  costs: boolean;
}

const NUMERIC: ReadonlySet<string> = new Set(['sum', 'avg', 'percentile']);

/** What the types have together, as filters see it. */
function scopeOf(schema: FilterSchema, types: readonly string[]): FilterScope {
  const attributes = new Map<string, { types: Set<never>; options: Set<string> }>();
  const subtypes = new Set<string>();
  const roles = new Set<string>();
  for (const scope of types.map((type) => schema.types.get(type)!)) {
    for (const [key, attribute] of scope.attributes) {
      const known = attributes.get(key) ?? { types: new Set(), options: new Set() };
      for (const type of attribute.types) known.types.add(type as never);
      for (const option of attribute.options) known.options.add(option);
      attributes.set(key, known);
    }
    for (const subtype of scope.subtypes) subtypes.add(subtype);
    for (const role of scope.roles) roles.add(role);
  }
  return { attributes, subtypes, roles };
}

/**
 * Checks a query against the metamodel and the caller's rights.
 * @throws EstateError 422 with the path of each fault, `forbidden` naming what may not be seen.
 */
export async function planQuery(ctx: Ctx, query: ReportQuery): Promise<QueryPlan> {
  const errors: FieldError[] = [];
  const fault = (field: string, code: string, message: string) => errors.push({ field, code, message });
  const { visibleTypes } = ctx.metamodel;
  for (const [n, type] of query.from.entries()) {
    if (!visibleTypes.includes(type))
      fault(`from.${n}`, 'unknown_type', `there is no visible type "${type}"`);
  }
  const asked = visibleTypes.filter((type) => query.from.length === 0 || query.from.includes(type));
  const filter = await attempt(() => prepareFilter(ctx, query.filter), errors);

  const whole = createFilterSchema(ctx.metamodel, await ctx.db('tag_groups').select('id', 'name'));
  const schema = query.from.length === 0 ? whole : { ...whole, any: scopeOf(whole, asked) };
  const active = activeCards(ctx);
  const lists: QueryPlan['lists'] = [];
  const root: Place = {
    name: ROOT,
    id: raw('b.card'),
    children: new Map(),
    attribute(key) {
      const column = `a${lists.length}`;
      lists.push({ column, value: sql`c.attributes -> ${key}::text` });
      return raw(`b.${column}`);
    },
  };
  const scope = { schema, types: new Set(asked), root, nodes: createNodes(active) };
  const today = new Date(query.as_of ?? Date.now()).toISOString().slice(0, 10);
  const keys: NodeValue[] = [];
  const values: NodeValue[] = [];
  const columns: QueryColumn[] = [];
  const dimensions: QueryPlan['dimensions'] = [];
  const measures: PlannedMeasure[] = [];
  const fields: QueryField[] = [];
  const name = (path: string, column: QueryColumn) => {
    if (columns.some((other) => other.name === column.name))
      fault(path, 'duplicate_name', `two columns have the name "${column.name}"`);
    columns.push(column);
  };

  for (const [n, dimension] of query.dimensions.entries()) {
    const path = `dimensions.${n}`;
    const field = await attempt(
      async () => resolveQueryField(dimension.field, dimension.at ?? today, scope),
      errors,
      `${path}.field`,
    );
    if (!field) continue;
    fields.push(field);
    const read = dimensionValue(dimension, field, path, fault);
    if (!read) continue;
    const key = { column: `k${n}`, ...read };
    (field.node?.keys ?? keys).push(key);
    dimensions.push({ column: key.column, type: read.type });
    const standard = dimension.bucket ? `${dimension.bucket}(${dimension.field})` : dimension.field;
    const unit = field.unit && !dimension.bucket ? { unit: field.unit } : {};
    name(path, { name: dimension.as ?? standard, type: read.type, shows: field.shows, ...unit });
  }

  for (const [n, measure] of query.measures.entries()) {
    const path = `measures.${n}`;
    const field = measure.field
      ? await attempt(async () => resolveQueryField(measure.field!, today, scope), errors, `${path}.field`)
      : undefined;
    if (measure.field && !field) continue;
    if (field) fields.push(field);
    if (!checkMeasure(measure, field, path, fault)) continue;
    const isValue = field?.value !== undefined;
    const value = isValue ? { column: `v${n}`, value: field.value!, type: field.type } : undefined;
    if (value && !field!.node) values.push(value);
    if (field?.node) {
      const known = field.node.values.get(field.entity) ?? [];
      field.node.values.set(field.entity, value ? [...known, value] : known);
    }
    measures.push({
      fn: measure.fn,
      p: measure.p ?? 0,
      entity: field?.entity ?? 'card',
      isList: field?.isList ?? false,
      ...(field?.node ? { node: field.node } : {}),
      ...(value ? { value } : {}),
    });
    const counts = measure.fn === 'count' || measure.fn === 'distinct';
    const standard = measure.p === undefined ? measure.fn : `${measure.fn}_${measure.p}`;
    name(path, {
      name: measure.as ?? (measure.field ? `${standard}(${measure.field})` : standard),
      type: counts ? 'number' : (field?.type ?? 'number'),
      ...(field ? { shows: field.shows } : {}),
      ...(field?.unit && !counts ? { unit: field.unit } : {}),
    });
  }

  const having: QueryPlan['having'] = [];
  for (const [n, { column, op, value }] of query.having.entries()) {
    const at = columns.findIndex(({ name }) => name === column) - dimensions.length;
    if (errors.length > 0) break;
    if (at < 0) fault(`having.${n}.column`, 'unknown_column', `no measure has the name "${column}"`);
    else if (columns[at + dimensions.length]!.type !== 'number')
      fault(`having.${n}.column`, 'no_number', `"${column}" is no number`);
    else having.push({ measure: at, op: op === '!=' ? '<>' : op, value });
  }
  const sort: QueryPlan['sort'] = [];
  for (const [n, { column, dir }] of query.sort.entries()) {
    const at = columns.findIndex(({ name }) => name === column);
    if (errors.length > 0) break;
    if (at < 0) fault(`sort.${n}.column`, 'unknown_column', `no column has the name "${column}"`);
    else sort.push({ column: at, dir });
  }
  if (errors.length > 0) throw invalidFields(errors);

  const costs = fields.some((field) => field.cost);
  if (fields.some((field) => field.relations) && !may(ctx.caller, 'relations.view')) {
    throw forbidden('relations.view');
  }
  if (fields.some((field) => field.people) && !may(ctx.caller, 'stakeholders.view')) {
    throw forbidden('stakeholders.view');
  }
  if (costs && !may(ctx.caller, 'costs.view')) throw forbidden('costs.view');

  const conditions = [active];
  if (query.from.length > 0) conditions.push(sql`c.type = any(${asked}::text[])`);
  if (filter) conditions.push({ ...filter, total: false });
  return {
    cards: combine('and', conditions),
    keys,
    values,
    lists,
    children: root.children,
    dimensions,
    measures,
    columns,
    having,
    sort,
    // a filter by costs needs the right to see them, and its answer reveals them
    costs: may(ctx.caller, 'costs.view') && (costs || query.filter.trim() !== ''),
  };
}

/** The cards that count, at whichever end of a relation. */
function activeCards(ctx: Ctx): Fragment {
  const visible = visibleCards(ctx);
  return { sql: `c.status = 'ACTIVE' and (${visible.sql})`, bindings: visible.bindings, total: false };
}

/** Runs it; the faults that it throws are added under the path instead. Other refusals pass. */
async function attempt<T>(
  run: () => Promise<T>,
  errors: FieldError[],
  path?: string,
): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof EstateError) || !error.errors) throw error;
    errors.push(...error.errors.map((known) => ({ ...known, field: path ?? known.field })));
    return undefined;
  }
}

type Fault = (field: string, code: string, message: string) => void;

function dimensionValue(
  dimension: QueryDimension,
  field: QueryField,
  path: string,
  fault: Fault,
): Pick<NodeValue, 'value' | 'type'> | undefined {
  const { value, type } = field;
  if (!value) {
    fault(`${path}.field`, 'no_value', 'ends at a relation: name a field of it, such as `.target.name`');
    return undefined;
  }
  if (dimension.at !== undefined && !/(^|\.)phase$/.test(dimension.field.trim())) {
    fault(`${path}.at`, 'not_offered', 'is only offered with the field "phase"');
    return undefined;
  }
  if (!dimension.bucket) return { value, type };
  if (type !== 'date' && type !== 'datetime') {
    fault(`${path}.bucket`, 'not_offered', 'is only offered for dates and timestamps');
    return undefined;
  }
  return { value: bucketed(value, type, dimension.bucket), type: 'key' };
}

/** Whether the function suits the field. */
function checkMeasure(
  { fn, field: given, p }: QueryMeasure,
  field: QueryField | undefined,
  path: string,
  fault: Fault,
): boolean {
  if (given === undefined) {
    if (fn !== 'count') fault(`${path}.field`, 'required', `"${fn}" needs a field`);
    else if (p !== undefined) fault(`${path}.p`, 'not_offered', 'is only offered with "percentile"');
    return fn === 'count' && p === undefined;
  }
  if ((fn === 'percentile') !== (p !== undefined)) {
    if (p === undefined) fault(`${path}.p`, 'required', '"percentile" needs p, from 0 to 1');
    else fault(`${path}.p`, 'not_offered', 'is only offered with "percentile"');
    return false;
  }
  if (fn === 'count') return true;
  if (!field?.value) {
    fault(`${path}.field`, 'no_value', 'ends at a relation, which can only be counted');
    return false;
  }
  if (NUMERIC.has(fn) && field.type !== 'number') {
    fault(`${path}.field`, 'no_number', `"${fn}" needs a field of numbers`);
    return false;
  }
  if (
    (fn === 'min' || fn === 'max') &&
    (field.isList || !['number', 'date', 'datetime'].includes(field.type))
  ) {
    fault(`${path}.field`, 'not_ordered', `"${fn}" needs a field of numbers, dates or timestamps`);
    return false;
  }
  return true;
}
