import { combine, type Fragment, raw, sql } from '../../domain/filters/filters.sql.ts';
import type { PlannedMeasure, QueryPlan } from './query.plan.ts';
import type { Entity, NodeValue, QueryNode } from './query.tree.ts';
import { sqlTypes } from './query.values.ts';

/** The compiled statement, in parts: what is selected of the groups decides what is answered. */
export interface CompiledQuery {
  /** `with ..., h as (...)`: the groups with their dimensions `k0`... and measures `q0`... */
  groups: Fragment;
  /** The columns of the answer, over `h`. */
  outputs: string[];
  /** For ORDER BY, over `h`. */
  order: Fragment;
}

/** What measures are made of: the cards, or what stands at a node, each once in a group. */
interface Source {
  id: string;
  values: NodeValue[];
}

const join = (fragments: Fragment[], separator: string): Fragment => ({
  sql: fragments.map((fragment) => fragment.sql).join(separator),
  bindings: fragments.flatMap((fragment) => fragment.bindings),
  total: false,
});

const named = (values: { column: string; value: Fragment }[]): Fragment[] =>
  values.map(({ column, value }) => sql`${value} as ${raw(column)}`);

/** The node and all that lies behind it. */
const within = (node: QueryNode): QueryNode[] => [node, ...[...node.children.values()].flatMap(within)];

const idOf = (node: QueryNode, entity: Entity) => `${entity}${node.n}`;

/**
 * Compiles a plan to one statement. The cards are read once; every relation, tag, person or option that the query
 * groups by makes further rows of a card, so that it is counted in each of those groups. What is summed is reduced to
 * different cards (or related cards, or relations) within a group before, so that nothing is counted twice there.
 */
export function compileQuery(plan: QueryPlan): CompiledQuery {
  const tops = [...plan.children.values()];
  // with measures of the cards alone, a card has one row in a group by construction
  const isMixed = plan.measures.some(({ node }) => node !== undefined);
  const base = [raw('c.id as card'), ...named([...plan.keys, ...plan.values, ...plan.lists])];
  const ctes = [sql`b as materialized (select ${join(base, ', ')} from cards c where ${plan.cards})`];
  for (const top of tops) ctes.push(branch(top, isMixed));

  const keyColumns = plan.dimensions.map(({ column }) => column);
  const ownColumns = [...plan.keys, ...plan.values].map(({ column }) => `b.${column}`);
  const joins = tops.map((top) => ` left join p${top.n} on p${top.n}.card = b.card`).join('');
  const columns = [
    'b.card',
    ...ownColumns,
    ...tops.flatMap((top) => columnsOf(top, isMixed).map((c) => `p${top.n}.${c}`)),
  ];
  ctes.push(raw(`j as (select ${columns.join(', ')} from b${joins})`));

  const sources = isMixed ? sourcesOf(plan) : [];
  if (isMixed) ctes.push(raw(`s as (${distinctRows(sources, keyColumns)})`));
  const measures = plan.measures.map((measure, n) => {
    const id = measure.node ? idOf(measure.node, measure.entity) : 'card';
    const filter = isMixed ? ` filter (where src = ${sources.findIndex((source) => source.id === id)})` : '';
    return sql`${aggregate(measure, filter)} as ${raw(`q${n}`)}`;
  });
  const group = keyColumns.length > 0 ? raw(` group by ${keyColumns.join(', ')}`) : raw('');
  ctes.push(
    sql`g as (select ${join([...keyColumns.map(raw), ...measures], ', ')} from ${raw(isMixed ? 's' : 'j')}${group})`,
  );
  const having = plan.having.map(
    ({ measure, op, value }) => sql`${raw(`q${measure} ${op}`)} ${value}::numeric`,
  );
  ctes.push(sql`h as (select * from g where ${combine('and', having)})`);

  const outputs = plan.columns.map(({ type }, n) => {
    const column = keyColumns[n] ?? `q${n - keyColumns.length}`;
    return type === 'datetime' ? `utc(${column})` : column;
  });
  return { groups: sql`with ${join(ctes, ', ')}`, outputs, order: orderOf(plan, keyColumns) };
}

/** What follows a card along one way: different rows of the keys, and of all that measures need. */
function branch(top: QueryNode, isMixed: boolean): Fragment {
  const nodes = within(top);
  const columns = nodes.flatMap((node) => [...named(node.keys), ...(isMixed ? named(measured(node)) : [])]);
  const joins = nodes.map(
    (node, n) => sql`${raw(n === 0 ? 'join' : 'left join')} ${node.from} on ${node.on}`,
  );
  return sql`${raw(`p${top.n}`)} as (select distinct ${join([raw('b.card'), ...columns], ', ')} from b ${join(joins, ' ')})`;
}

/** The ids and values that measures need of a node. */
function measured(node: QueryNode): { column: string; value: Fragment }[] {
  return [...node.values].flatMap(([entity, values]) => [
    { column: idOf(node, entity), value: node.ids[entity]! },
    ...values,
  ]);
}

const columnsOf = (top: QueryNode, isMixed: boolean): string[] =>
  within(top).flatMap((node) => [
    ...node.keys.map(({ column }) => column),
    ...(isMixed ? measured(node).map(({ column }) => column) : []),
  ]);

function sourcesOf(plan: QueryPlan): Source[] {
  const nodes = [...plan.children.values()].flatMap(within);
  return [
    { id: 'card', values: plan.values },
    ...nodes.flatMap((node) =>
      [...node.values].map(([entity, values]) => ({ id: idOf(node, entity), values })),
    ),
  ];
}

/** What each source has in each group, once; the columns of the other sources stay empty. */
function distinctRows(sources: Source[], keys: string[]): string {
  return sources
    .map((source, n) => {
      const values = sources.flatMap((other) =>
        other.values.map(({ column, type }) =>
          other === source ? column : `null::${sqlTypes[type]} as ${column}`,
        ),
      );
      const columns = [`${n} as src`, ...keys, `${source.id} as id`, ...values];
      return `select distinct ${columns.join(', ')} from j where ${source.id} is not null`;
    })
    .join(' union all ');
}

function aggregate({ fn, p, value, isList }: PlannedMeasure, filter: string): Fragment {
  const over = (call: string) => raw(`${call}${filter}`);
  if (!value) return over('count(*)');
  const { column, type } = value;
  switch (fn) {
    case 'count':
      // a card with several tags has several rows
      if (isList)
        return raw(`count(distinct id)${filter.replace('where', `where ${column} is not null and`)}`);
      return over(`count(${column})`);
    case 'distinct':
      return over(`count(distinct ${column})`);
    case 'avg':
      return sql`trim_scale(round(${over(`avg(${column})`)}, 6))`;
    case 'percentile':
      return sql`percentile_cont(${p}::float8) within group (order by ${raw(`${column}::float8`)})${raw(filter)}`;
    case 'min':
    case 'max':
      return over(`${fn}(${column}${type === 'date' ? ' collate "C"' : ''})`);
    case 'sum':
      return over(`sum(${column})`);
  }
}

/** As asked for, then by the dimensions: texts by their folded form, nothing last. */
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
