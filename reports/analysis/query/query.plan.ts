import { visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
import { prepareFilter } from '../../../domain/inventory/filters/filters.prepare.ts';
import { createFilterSchema, scopeOf } from '../../../domain/inventory/filters/filters.schema.ts';
import { combine, type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type {
  QueryDimension,
  QueryMeasure,
  ReportQuery,
} from '../../../domain/inventory/reports/report.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { type QueryField, ROOT, resolveQueryField, type ShownField } from './query.fields.ts';
import { createNodes, type NodeValue, type Place, type QueryNode } from './query.tree.ts';
import { bucketed, type ValueType } from './query.values.ts';

/** A column of the result. */
export interface QueryColumn {
  name: string;
  type: ValueType;
  unit?: 'currency' | 'percent';
  /** The field that it shows; absent: the cards themselves. */
  shows?: ShownField;
}

/** A measure with the source of its values. */
export interface PlannedMeasure {
  fn: QueryMeasure['fn'];
  /** Of percentiles. */
  p: number;
  /** Absent: the cards themselves. */
  node?: QueryNode;
  entity: QueryField['entity'];
  /** Absent: entities are counted. */
  value?: NodeValue;
  isList: boolean;
}

/** A query that was validated against the metamodel and the caller's rights. */
export interface QueryPlan {
  /** Condition of the cards, over the alias `c`. */
  cards: Fragment;
  /** Columns that are read of each card. */
  keys: NodeValue[];
  values: NodeValue[];
  /** Multi-select attributes, as jsonb. */
  lists: { column: string; value: Fragment }[];
  children: ReadonlyMap<string, QueryNode>;
  /** Columns of the dimensions in order. */
  dimensions: { column: string; type: ValueType }[];
  measures: PlannedMeasure[];
  columns: QueryColumn[];
  having: { measure: number; op: string; value: number }[];
  sort: { column: number; dir: 'asc' | 'desc' }[];
  /** Whether the result contains costs, or allows to infer them. */
  costs: boolean;
}

const NUMERIC: ReadonlySet<string> = new Set(['sum', 'avg', 'percentile']);

/** Collects the columns, nodes and errors of a plan. */
class Planning {
  readonly errors: FieldError[] = [];
  readonly fields: QueryField[] = [];
  readonly keys: NodeValue[] = [];
  readonly values: NodeValue[] = [];
  readonly lists: QueryPlan['lists'] = [];
  readonly dimensions: QueryPlan['dimensions'] = [];
  readonly measures: PlannedMeasure[] = [];
  readonly columns: QueryColumn[] = [];
  readonly root: Place = {
    name: ROOT,
    id: raw('b.card'),
    children: new Map(),
    attribute: (key) => {
      const column = `a${this.lists.length}`;
      this.lists.push({ column, value: sql`c.attributes -> ${key}::text` });
      return raw(`b.${column}`);
    },
  };

  addColumn(path: string, column: QueryColumn): void {
    if (this.columns.some(({ name }) => name === column.name)) {
      const message = `two columns have the name "${column.name}"`;
      this.errors.push({ field: path, code: 'duplicate_name', message });
    }
    this.columns.push(column);
  }

  /** Plans a part of the query, and collects its validation errors. */
  attempt<T>(plan: () => T): T | undefined {
    try {
      return plan();
    } catch (error) {
      return this.collect(error);
    }
  }

  /** Collects validation errors. @throws any other error. */
  collect(error: unknown): undefined {
    if (!(error instanceof EstateError) || !error.errors) throw error;
    this.errors.push(...error.errors);
  }
}

/** Resolves the field that a path of the query names, on a day. @throws EstateError 422 with the path. */
type Resolve = (path: string, name: string, day?: string) => QueryField;

/**
 * Checks a query against the metamodel and the caller's rights.
 * @throws EstateError 422 with the path of each error, `forbidden` naming the missing permission.
 */
export async function planQuery(ctx: Ctx, query: ReportQuery): Promise<QueryPlan> {
  const planning = new Planning();
  const { visibleTypes, cardTypes } = ctx.metamodel;
  for (const [n, type] of query.from.entries()) {
    if (visibleTypes.includes(type)) continue;
    const message = `there is no visible type "${type}"`;
    planning.errors.push({ field: `from.${n}`, code: 'unknown_type', message });
  }
  const asked = visibleTypes.filter((type) => query.from.length === 0 || query.from.includes(type));
  const filter = await prepareFilter(ctx, query.filter).catch((error) => planning.collect(error));

  const whole = createFilterSchema(ctx.metamodel, await ctx.db('tag_groups').select('id', 'name'));
  const any = scopeOf(asked.map((key) => cardTypes.get(key)!));
  const active = activeCards(ctx);
  const nodes = createNodes(active);
  const scope = { schema: { ...whole, any }, types: new Set(asked), root: planning.root, nodes };
  const today = new Date(query.as_of ?? Date.now()).toISOString().slice(0, 10);
  const resolve: Resolve = (path, name, day = today) => {
    try {
      return resolveQueryField(name, day, scope);
    } catch (error) {
      if (!(error instanceof EstateError) || !error.errors) throw error;
      throw invalidFields(error.errors.map((known) => ({ ...known, field: path })));
    }
  };
  for (const [n, dimension] of query.dimensions.entries())
    planning.attempt(() => planDimension(planning, n, dimension, resolve));
  for (const [n, measure] of query.measures.entries())
    planning.attempt(() => planMeasure(planning, n, measure, resolve));
  const having = planHaving(planning, query.having);
  const sort = planSort(planning, query.sort);
  if (planning.errors.length > 0) throw invalidFields(planning.errors);
  requireFields(ctx, planning.fields);

  const conditions = [active];
  if (query.from.length > 0) conditions.push(sql`c.type = any(${asked}::text[])`);
  if (filter) conditions.push({ ...filter, total: false });
  const { keys, values, lists, root, dimensions, measures, columns, fields } = planning;
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
    // a filter by costs requires `costs.view`, and its result reveals costs
    costs: may(ctx.caller, 'costs.view') && (fields.some(({ cost }) => cost) || query.filter.trim() !== ''),
  };
}

function planDimension(planning: Planning, n: number, dimension: QueryDimension, resolve: Resolve): void {
  const path = `dimensions.${n}`;
  const field = resolve(`${path}.field`, dimension.field, dimension.at);
  planning.fields.push(field);
  const read = dimensionValue(dimension, field, path);
  const key = { column: `k${n}`, ...read };
  (field.node?.keys ?? planning.keys).push(key);
  planning.dimensions.push({ column: key.column, type: read.type });
  const standard = dimension.bucket ? `${dimension.bucket}(${dimension.field})` : dimension.field;
  const unit = field.unit && !dimension.bucket ? { unit: field.unit } : {};
  planning.addColumn(path, { name: dimension.as ?? standard, type: read.type, shows: field.shows, ...unit });
}

function planMeasure(planning: Planning, n: number, measure: QueryMeasure, resolve: Resolve): void {
  const path = `measures.${n}`;
  const { fn, p, field: given, as } = measure;
  const field = given === undefined ? undefined : resolve(`${path}.field`, given);
  if (field) planning.fields.push(field);
  checkMeasure(measure, field, path);
  const value = field?.value && { column: `v${n}`, value: field.value, type: field.type };
  if (value && !field.node) planning.values.push(value);
  if (field?.node) {
    const known = field.node.values.get(field.entity) ?? [];
    field.node.values.set(field.entity, value ? [...known, value] : known);
  }
  planning.measures.push({
    fn,
    p: p ?? 0,
    entity: field?.entity ?? 'card',
    isList: field?.isList ?? false,
    ...(field?.node ? { node: field.node } : {}),
    ...(value ? { value } : {}),
  });
  const counts = fn === 'count' || fn === 'distinct';
  const standard = p === undefined ? fn : `${fn}_${p}`;
  planning.addColumn(path, {
    name: as ?? (given ? `${standard}(${given})` : standard),
    type: counts ? 'number' : (field?.type ?? 'number'),
    ...(field ? { shows: field.shows } : {}),
    ...(field?.unit && !counts ? { unit: field.unit } : {}),
  });
}

/** The conditions on measures; none while the query has other errors. */
function planHaving(planning: Planning, conditions: ReportQuery['having']): QueryPlan['having'] {
  const { columns, dimensions } = planning;
  if (planning.errors.length > 0) return [];
  const planned = conditions.map(({ column, op, value }, n) =>
    planning.attempt(() => {
      const at = columns.findIndex(({ name }) => name === column);
      const measure = at - dimensions.length;
      const path = `having.${n}.column`;
      if (measure < 0) throw invalidField(path, 'unknown_column', `no measure has the name "${column}"`);
      if (columns[at]!.type !== 'number') throw invalidField(path, 'no_number', `"${column}" is not numeric`);
      return { measure, op: op === '!=' ? '<>' : op, value };
    }),
  );
  return planned.filter((condition) => condition !== undefined);
}

/** The order; none while the query has other errors. */
function planSort(planning: Planning, items: ReportQuery['sort']): QueryPlan['sort'] {
  if (planning.errors.length > 0) return [];
  const planned = items.map(({ column, dir }, n) =>
    planning.attempt(() => {
      const at = planning.columns.findIndex(({ name }) => name === column);
      if (at >= 0) return { column: at, dir };
      throw invalidField(`sort.${n}.column`, 'unknown_column', `no column has the name "${column}"`);
    }),
  );
  return planned.filter((item) => item !== undefined);
}

/** @throws EstateError `forbidden` naming the permission that a field needs. */
function requireFields({ caller }: Ctx, fields: readonly QueryField[]): void {
  if (fields.some(({ relations }) => relations)) requirePermission(caller, 'relations.view');
  if (fields.some(({ people }) => people)) requirePermission(caller, 'stakeholders.view');
  if (fields.some(({ cost }) => cost)) requirePermission(caller, 'costs.view');
}

/** Condition of the cards that count, at either end of a relation. */
function activeCards(ctx: Ctx): Fragment {
  const visible = visibleCards(ctx);
  return { sql: `c.status = 'ACTIVE' and (${visible.sql})`, bindings: visible.bindings, total: false };
}

/** @throws EstateError 422 naming the invalid member. */
function dimensionValue(
  dimension: QueryDimension,
  { value, type }: QueryField,
  path: string,
): Pick<NodeValue, 'value' | 'type'> {
  if (!value) {
    const message = 'ends at a relation: name a field of it, such as `.target.name`';
    throw invalidField(`${path}.field`, 'no_value', message);
  }
  if (dimension.at !== undefined && !/(^|\.)phase$/.test(dimension.field.trim()))
    throw invalidField(`${path}.at`, 'not_offered', 'is only supported with the field "phase"');
  if (!dimension.bucket) return { value, type };
  if (type !== 'date' && type !== 'datetime')
    throw invalidField(`${path}.bucket`, 'not_offered', 'is only supported for dates and timestamps');
  return { value: bucketed(value, type, dimension.bucket), type: 'key' };
}

/** Checks that the function is applicable to the field. @throws EstateError 422 naming the invalid member. */
function checkMeasure(
  { fn, field: given, p }: QueryMeasure,
  field: QueryField | undefined,
  path: string,
): void {
  const invalid = (code: string, message: string) => invalidField(`${path}.field`, code, message);
  if (given === undefined && fn !== 'count') throw invalid('required', `"${fn}" needs a field`);
  if (fn === 'percentile' && p === undefined)
    throw invalidField(`${path}.p`, 'required', '"percentile" needs p, from 0 to 1');
  if (fn !== 'percentile' && p !== undefined)
    throw invalidField(`${path}.p`, 'not_offered', 'is only supported with "percentile"');
  if (fn === 'count') return;
  if (!field?.value) throw invalid('no_value', 'ends at a relation, which can only be counted');
  if (NUMERIC.has(fn) && field.type !== 'number')
    throw invalid('no_number', `"${fn}" needs a field of numbers`);
  const isOrdered = !field.isList && ['number', 'date', 'datetime'].includes(field.type);
  if ((fn === 'min' || fn === 'max') && !isOrdered)
    throw invalid('not_ordered', `"${fn}" needs a field of numbers, dates or timestamps`);
}
