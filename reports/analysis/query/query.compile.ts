import { combine, type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import { joinFragments } from '../../../platform/database.ts';
import type { PlannedMeasure, QueryPlan } from './query.plan.ts';
import type { Entity, NodeValue, QueryNode } from './query.tree.ts';
import { sqlTypes } from './query.values.ts';

/** The parts of the compiled statement. */
export interface CompiledQuery {
  /** `with ..., h as (...)`: the groups with their dimensions `k0`... and measures `q0`... */
  groups: Fragment;
  /** The columns of the result, over `h`. */
  outputs: string[];
  /** For ORDER BY, over `h`. */
  order: Fragment;
}

/** The entities of a measure: the cards, or the entities of a node, each counted once per group. */
interface Source {
  id: string;
  values: NodeValue[];
}

const join = (fragments: Fragment[], separator: string): Fragment => ({
  ...joinFragments(fragments, separator),
  total: false,
});

const named = (values: { column: string; value: Fragment }[]): Fragment[] =>
  values.map(({ column, value }) => sql`${value} as ${raw(column)}`);

/** The node and its descendants. */
const within = (node: QueryNode): QueryNode[] => [node, ...[...node.children.values()].flatMap(within)];

const idOf = (node: QueryNode, entity: Entity) => `${entity}${node.n}`;

/**
 * Compiles a plan to one statement. The cards are read once; every relation, tag, person or option of a dimension
 * multiplies the rows of a card, so that it counts in each of these groups. Before aggregation, rows are reduced to distinct
 * cards (or related cards, or relations) per group, so that nothing is counted twice.
 */
export function compileQuery(plan: QueryPlan): CompiledQuery {
  const tops = [...plan.children.values()];
  // with measures of the cards alone, a card has one row in a group by construction
  const isMixed = plan.measures.some(({ node }) => node !== undefined);
  const base = [raw('c.id as card'), ...named([...plan.keys, ...plan.values, ...plan.lists])];
  const ctes = [sql`b as materialized (select ${join(base, ', ')} from cards c where ${plan.cards})`];

  const columns = [raw('b.card'), ...[...plan.keys, ...plan.values].map(({ column }) => raw(`b.${column}`))];
  const joins: Fragment[] = [];
  for (const top of tops) {
    const values = valuesOf(top, isMixed);
    if (isMixed && isMeasured(top)) {
      columns.push(...named(values));
      joins.push(...joinsOf(top, 'left join'));
    } else {
      const name = raw(`p${top.n}`);
      const path = sql`select distinct ${join([raw('b.card'), ...named(values)], ', ')} from b ${join(joinsOf(top, 'join'), ' ')}`;
      ctes.push(sql`${name} as (${path})`);
      columns.push(...values.map(({ column }) => sql`${name}.${raw(column)}`));
      joins.push(sql`left join ${name} on ${name}.card = b.card`);
    }
  }
  ctes.push(sql`j as (select ${join(columns, ', ')} from b ${join(joins, ' ')})`);

  const keys = plan.dimensions.map(({ column }) => column);
  ctes.push(
    sql`g as (${isMixed ? groupBySource(plan, keys) : groupBy(raw('j'), keys, plan.measures.map(aggregate))})`,
  );
  const having = plan.having.map(
    ({ measure, op, value }) => sql`${raw(`q${measure} ${op}`)} ${value}::numeric`,
  );
  ctes.push(sql`h as (select * from g where ${combine('and', having)})`);

  const outputs = plan.columns.map(({ type }, n) => {
    const column = keys[n] ?? `q${n - keys.length}`;
    return type === 'datetime' ? `utc(${column})` : column;
  });
  return { groups: sql`with ${join(ctes, ', ')}`, outputs, order: orderOf(plan, keys) };
}

/** Groups the rows of a table by the keys. @param measures SQL of `q0`, `q1`... */
function groupBy(from: Fragment, keys: string[], measures: Fragment[]): Fragment {
  const columns = [...keys.map(raw), ...measures.map((value, n) => sql`${value} as ${raw(`q${n}`)}`)];
  const by = keys.length > 0 ? ` group by ${keys.join(', ')}` : '';
  return sql`select ${join(columns, ', ')} from ${from}${raw(by)}`;
}

/**
 * Groups each source of measures separately and merges the results per group, so that sums use hash aggregation and only
 * percentiles are sorted.
 */
function groupBySource({ children, values, measures }: QueryPlan, keys: string[]): Fragment {
  const nodes = [...children.values()].flatMap(within);
  const sources: Source[] = [
    { id: 'card', values },
    ...nodes.flatMap((node) =>
      [...node.values].map(([entity, read]) => ({ id: idOf(node, entity), values: read })),
    ),
  ];
  const found = sources.map(({ id, values: read }) => {
    const distinctColumns = [...keys, `${id} as id`, ...read.map(({ column }) => column)].join(', ');
    const own = measures.map((measure) => {
      const isOwn = (measure.node ? idOf(measure.node, measure.entity) : 'card') === id;
      return isOwn ? aggregate(measure) : raw(`null::${measuredType(measure)}`);
    });
    return groupBy(raw(`(select distinct ${distinctColumns} from j where ${id} is not null) s`), keys, own);
  });
  const merged = measures.map(({ fn }, n) =>
    raw(fn === 'count' || fn === 'distinct' ? `coalesce(any_value(q${n}), 0)` : `any_value(q${n})`),
  );
  return groupBy(sql`(${join(found, ' union all ')}) u`, keys, merged);
}

/** The columns read along one path from a card: the keys and, if rows are reduced later, those of the measures. */
const valuesOf = (top: QueryNode, isMixed: boolean): Pick<NodeValue, 'column' | 'value'>[] =>
  within(top).flatMap((node) => [...node.keys, ...(isMixed ? measured(node) : [])]);

/**
 * Whether each node of a path has a measure: its rows are distinct then, and need no reduction.
 */
const isMeasured = (top: QueryNode): boolean => within(top).every(({ values }) => values.size > 0);

const joinsOf = (top: QueryNode, first: string): Fragment[] =>
  within(top).map((node, n) => sql`${raw(n === 0 ? first : 'left join')} ${node.from} on ${node.on}`);

/** The ids and values that measures need of a node. */
function measured(node: QueryNode): Pick<NodeValue, 'column' | 'value'>[] {
  return [...node.values].flatMap(([entity, values]) => [
    { column: idOf(node, entity), value: node.ids[entity]! },
    ...values,
  ]);
}

/** The SQL type of a measure. */
function measuredType({ fn, value }: PlannedMeasure): string {
  switch (fn) {
    case 'count':
    case 'distinct':
      return 'bigint';
    case 'percentile':
      return 'float8';
    default:
      return sqlTypes[value!.type];
  }
}

function aggregate({ fn, p, value, isList }: PlannedMeasure): Fragment {
  if (!value) return raw('count(*)');
  const { column, type } = value;
  switch (fn) {
    case 'count':
      // a card with several tags has several rows
      return raw(isList ? `count(distinct id) filter (where ${column} is not null)` : `count(${column})`);
    case 'distinct':
      return raw(`count(distinct ${column})`);
    case 'avg':
      return raw(`trim_scale(round(avg(${column}), 6))`);
    case 'percentile':
      return sql`percentile_cont(${p}::float8) within group (order by ${raw(`${column}::float8`)})`;
    case 'min':
    case 'max':
      return raw(`${fn}(${column}${type === 'date' ? ' collate "C"' : ''})`);
    case 'sum':
      return raw(`sum(${column})`);
  }
}

/** ORDER BY: the requested order, then the dimensions; texts by their folded form, nulls last. */
function orderOf(plan: QueryPlan, keys: string[]): Fragment {
  const asked = plan.sort.map(({ column, dir }) => ({ column, dir }));
  const rest = keys
    .map((_, column) => ({ column, dir: 'asc' as const }))
    .filter(({ column }) => !asked.some((sort) => sort.column === column));
  const terms = [...asked, ...rest].flatMap(({ column, dir }) => {
    const place = keys[column] ?? `q${column - keys.length}`;
    const { type } = plan.columns[column]!;
    const exact = type === 'text' || type === 'key' || type === 'date' ? `${place} collate "C"` : place;
    const folded = type === 'text' ? [`fold(${place}) collate "C"`] : [];
    return [...folded, exact].map((term) => `${term} ${dir} nulls last`);
  });
  return raw(terms.length > 0 ? ` order by ${terms.join(', ')}` : '');
}
