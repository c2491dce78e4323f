import { DATA_FLOW } from '../../../domain/inventory/data-flows/data-flows.model.ts';
import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment as Condition } from '../../../domain/kernel/lists/lists.types.ts';
import { dataFlowLabels, flowOfRelation } from '../../kernel/report.flows.ts';
import { edgeJson, nodeJson } from './dependencies.fields.ts';

export interface GraphParams {
  center_id?: string;
  depth: number;
  type?: string;
  fields?: string;
  bundle?: number;
  roll_up?: boolean;
}

/** The center cards, and the visible cards around them. */
export interface Neighbourhood {
  centers: string[];
  ids: string[];
  /** The keys of their types. */
  types: string[];
  /** Cards below the center whose relations count as its own. */
  rolled?: string[];
  /** The related cards of one type that were left out, since a card has too many of them. */
  bundles?: { card_id: string; type: string; count: number }[];
  /** Names from the root to the parents of the cards, as JSON. */
  paths: { below: string[]; paths: string[] };
}

/** The requested part of the graph. */
interface GraphPart extends Pick<GraphParams, 'type'> {
  /** Absent: the complete graph. */
  around?: Neighbourhood;
  /** The members of nodes and edges besides those that each has; absent: all. */
  fields?: ReadonlySet<string> | undefined;
}

/**
 * Maximum number of card ids in a statement for index lookups of relations; for more cards, scanning all relations is faster.
 */
const FEW = 5_000;

/** SQL of the graph: statements begin with `tables`, and select from `nodes` and `edges`. */
export interface GraphSql {
  /** `with recursive ...` */
  tables: Fragment;
  /** `from ...`, with `c` for the card and `w` for its path from the root. */
  nodes: string;
  /** `from ...`, with `e` for the relation and `t` for its type. */
  edges: string;
  /** JSON of one node and one edge, as text. */
  node: string;
  edge: string;
}

export const fragment = ({ sql: text, bindings }: Condition): Fragment => ({
  sql: text,
  bindings,
  total: false,
});

/**
 * Builds the graph of the report's cards, or of the cards around the centers, with the relations between them. With `type`
 * only relations with a card of this type, and the cards at their ends.
 */
export function graphOf(
  ctx: Ctx,
  { around, type, fields }: GraphPart,
  condition: Condition,
  visibleCards: Condition,
): GraphSql {
  const cards = fragment(condition);
  const visible = fragment(visibleCards);
  const types = ctx.metamodel.visibleRelationTypes;
  const known = [
    ...types.map((key) => ctx.metamodel.relationTypes.get(key)!),
    { key: DATA_FLOW, ...dataFlowLabels },
  ];
  const labels = known.map(({ label }) => label);
  // the common text of a type's edges, built once
  const heads = known.map(
    ({ key, label, reverse_label }) =>
      `"type":${JSON.stringify(key)},"label":${JSON.stringify(label)},"reverse_label":${JSON.stringify(reverse_label)}`,
  );
  const few = around !== undefined && around.ids.length <= FEW;
  const hasType = type === undefined ? raw('') : sql` and ${type}::text in (a.type, b.type)`;
  const ends = raw('join n a on a.id = r.source_id join n b on b.id = r.target_id');
  let all: Fragment;
  let flows = sql`join n a on a.id = f.source_id join n b on b.id = f.target_id where true${hasType}`;
  let edges = sql`${ends} where r.type = any(${types}::text[])${hasType}`;
  if (around === undefined) {
    all = sql`n as not materialized (select c.id, c.type from cards c where ${cards})`;
  } else if (few) {
    all = sql`n as not materialized (
      select * from unnest(${around.ids}::uuid[], ${around.types}::text[]) as n (id, type))`;
    // `r.type || ''` makes the planner use the index on the ends only, not the one that includes the type
    edges = sql`${type === undefined ? raw('') : ends} where (r.type || '') = any(${types}::text[])
      and r.source_id = any(${around.ids}::uuid[]) and r.target_id = any(${around.ids}::uuid[])${hasType}`;
    flows = sql`${flows} and f.source_id = any(${around.ids}::uuid[]) and f.target_id = any(${around.ids}::uuid[])`;
  } else {
    all = sql`n as not materialized (
      select c.id, c.type from unnest(${around.ids}::uuid[]) as u (id) join cards c on c.id = u.id)`;
  }
  const rolled = around?.rolled ?? [];
  const nodes = rolled.length > 0 ? sql`n where not id = any(${rolled}::uuid[])` : raw('n');
  const centers = around === undefined ? raw('') : sql` union select unnest(${around.centers}::uuid[])`;
  const selectedNodes =
    type === undefined
      ? sql`k as not materialized (select id from ${nodes})`
      : sql`k as (select id from (select * from ${nodes}) n where n.type = ${type}::text
          union select e.source_id from e union select e.target_id from e${centers})`;
  const tables = sql`with recursive ${all},
    ${rolledUp(
      around,
      sql`select r.id, r.type, r.source_id, r.target_id, r.description, r.attributes, ${raw(flowOfRelation)} as flow
      from relations r ${edges}
      union all
      select f.id, ${DATA_FLOW}, f.source_id, f.target_id, f.description, ${flowAttributes(visible)}, f.direction
      from data_flows f ${flows}`,
    )},
    ${selectedNodes},
    t as (select * from unnest(${known.map(({ key }) => key)}::text[], ${labels}::text[], ${heads}::text[]) as t (key, label, head)),
    ${around === undefined ? allPaths(visible) : pathsAround(around)}`;
  return {
    tables,
    nodes:
      around === undefined
        ? 'from k join cards c on c.id = k.id left join w on w.id = k.id'
        : 'from k join cards c on c.id = k.id left join w on w.id = c.parent_id',
    edges: 'from e join t on t.key = e.type',
    node: nodeJson(ctx, fields),
    edge: edgeJson(ctx, fields, rolled.length > 0),
  };
}

/** The common table `e` of edges, in which the center replaces the cards that are rolled up to it. */
function rolledUp(around: Neighbourhood | undefined, edges: Fragment): Fragment {
  const rolled = around?.rolled ?? [];
  if (rolled.length === 0) return sql`e as (${edges})`;
  const center = around!.centers[0]!;
  const own = [center, ...rolled];
  const isRolled = (end: string) => sql`${raw(end)} = any(${rolled}::uuid[])`;
  const endOf = (end: string) => sql`case when ${isRolled(end)} then ${center}::uuid else ${raw(end)} end`;
  return sql`x as (${edges}),
    e as (select x.id, x.type, ${endOf('x.source_id')} as source_id, ${endOf('x.target_id')} as target_id,
        x.description, x.attributes, x.flow,
        case when ${isRolled('x.source_id')} then x.source_id when ${isRolled('x.target_id')} then x.target_id end as via_id
      from x where not (x.source_id = any(${own}::uuid[]) and x.target_id = any(${own}::uuid[])))`;
}

/** The members of a flow over the alias `f`, as attributes of a link, with the visible cards over and of which it is. */
const flowAttributes = (visible: Fragment): Fragment => sql`jsonb_strip_nulls(jsonb_build_object(
    'frequency', f.frequency,
    'interface', (select c.name from cards c where c.id = f.interface_id and ${visible}),
    'data_objects', (select jsonb_agg(c.name order by c.name_key, c.id) from cards c
      where c.id = any(f.data_object_ids) and ${visible})))`;

/** The common table `w (id, path)` of the names of all cards' visible ancestors, root first. */
const allPaths = (visible: Fragment): Fragment => sql`
    p as not materialized (select c.id, c.parent_id, c.name from cards c where ${visible}),
    up as (
      select k.id, p.parent_id, p.name, 1 as height
      from k join cards c on c.id = k.id join p on p.id = c.parent_id
      union all select up.id, p.parent_id, p.name, up.height + 1 from up join p on p.id = up.parent_id),
    w as (select up.id, array_agg(up.name order by up.height desc) as path from up group by up.id)`;

/** The common table `w (id, path)` of the names from the root to each parent card. */
const pathsAround = ({ paths }: Neighbourhood): Fragment => sql`
    w as (select * from unnest(${paths.below}::uuid[], ${paths.paths}::json[]) as w (id, path))`;
