import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment as Condition } from '../../../domain/kernel/lists/lists.types.ts';
import { reportAttributes, withoutCosts } from '../../kernel/report.cards.ts';

export interface GraphParams {
  center_id?: string;
  depth: number;
  type?: string;
}

/** Cards in the middle, and the visible ones among these with all that are around them. */
export interface Around {
  centers: string[];
  ids: string[];
  /** The keys of their types. */
  types: string[];
  /** The names on the ways from the root to the cards below which they stand, as JSON. */
  ways: { below: string[]; paths: string[] };
}

/** Which part of the graph is asked for. */
interface GraphPart extends Pick<GraphParams, 'type'> {
  /** Without it the whole graph. */
  around?: Around;
}

/**
 * Of so many cards the planner looks at each one's id to know how many relations they have, which takes it longer than looking
 * through all relations when they are more.
 */
const FEW = 5_000;

/** The graph as SQL: statements begin with `tables`, and select from `nodes` and `edges`. */
export interface GraphSql {
  /** `with recursive ...` */
  tables: Fragment;
  /** `from ...`, with `c` for the card and `w` for the way to it from the root. */
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
 * The cards that a report is about, or those around some of them, with the relations among them. `type` leaves the
 * relations that touch a card of it, and the cards at their ends.
 */
export function graphOf(
  ctx: Ctx,
  { around, type }: GraphPart,
  condition: Condition,
  visibleCards: Condition,
): GraphSql {
  const cards = fragment(condition);
  const visible = fragment(visibleCards);
  const types = ctx.metamodel.visibleRelationTypes;
  const known = types.map((key) => ctx.metamodel.relationTypes.get(key)!);
  const labels = known.map(({ label }) => label);
  // what the edges of a type have in common, made once
  const heads = known.map(
    ({ key, label, reverse_label }) =>
      `"type":${JSON.stringify(key)},"label":${JSON.stringify(label)},"reverse_label":${JSON.stringify(reverse_label)}`,
  );
  const few = around !== undefined && around.ids.length <= FEW;
  const touches = type === undefined ? raw('') : sql` and ${type}::text in (a.type, b.type)`;
  const ends = raw('join n a on a.id = r.source_id join n b on b.id = r.target_id');
  let all: Fragment;
  let edges = sql`${ends} where r.type = any(${types}::text[])${touches}`;
  if (around === undefined) {
    all = sql`n as not materialized (select c.id, c.type from cards c where ${cards})`;
  } else if (few) {
    all = sql`n as not materialized (
      select * from unnest(${around.ids}::uuid[], ${around.types}::text[]) as n (id, type))`;
    // looked for by their ends alone, as a type that is part of an index would be looked for with each of them
    edges = sql`${type === undefined ? raw('') : ends} where (r.type || '') = any(${types}::text[])
      and r.source_id = any(${around.ids}::uuid[]) and r.target_id = any(${around.ids}::uuid[])${touches}`;
  } else {
    all = sql`n as not materialized (
      select c.id, c.type from unnest(${around.ids}::uuid[]) as u (id) join cards c on c.id = u.id)`;
  }
  const middle = around === undefined ? raw('') : sql` union select unnest(${around.centers}::uuid[])`;
  const kept =
    type === undefined
      ? raw('k as not materialized (select id from n)')
      : sql`k as (select n.id from n where n.type = ${type}::text
          union select e.source_id from e union select e.target_id from e${middle})`;
  const tables = sql`with recursive ${all},
    e as (select r.id, r.type, r.source_id, r.target_id, r.description, r.attributes
      from relations r ${edges}),
    ${kept},
    t as (select * from unnest(${types}::text[], ${labels}::text[], ${heads}::text[]) as t (key, label, head)),
    ${around === undefined ? waysOfAll(visible) : waysOf(around)}`;
  return {
    tables,
    nodes:
      around === undefined
        ? 'from k join cards c on c.id = k.id left join w on w.id = k.id'
        : 'from k join cards c on c.id = k.id left join w on w.id = c.parent_id',
    edges: 'from e join t on t.key = e.type',
    // joined as text, which takes half the time of building objects
    node: `'{"id":"' || c.id || '","name":' || to_json(c.name)::text || ',"type":"' || c.type
      || '","lifecycle":' || coalesce(c.lifecycle::text, 'null') || ',"attributes":' || (${reportAttributes(ctx)})::text
      || ',"parent_id":' || coalesce('"' || c.parent_id || '"', 'null')
      || ',"path":' || coalesce(to_json(w.path)::text, '[]') || '}'`,
    edge: `'{"source":"' || e.source_id || '","target":"' || e.target_id || '",' || t.head
      || ',"description":' || coalesce(to_json(e.description)::text, 'null')
      || ',"attributes":' || (${withoutCosts(ctx, 'e', ctx.metamodel.relationTypes.values())})::text || '}'`,
  };
}

/** The common table `w (id, path)` of the names of all cards' visible ancestors, root first. */
const waysOfAll = (visible: Fragment): Fragment => sql`
    p as not materialized (select c.id, c.parent_id, c.name from cards c where ${visible}),
    up as (
      select k.id, p.parent_id, p.name, 1 as height
      from k join cards c on c.id = k.id join p on p.id = c.parent_id
      union all select up.id, p.parent_id, p.name, up.height + 1 from up join p on p.id = up.parent_id),
    w as (select up.id, array_agg(up.name order by up.height desc) as path from up group by up.id)`;

/** The common table `w (id, path)` of the names on the ways to and including the cards below which others stand. */
const waysOf = ({ ways }: Around): Fragment => sql`
    w as (select * from unnest(${ways.below}::uuid[], ${ways.paths}::json[]) as w (id, path))`;
