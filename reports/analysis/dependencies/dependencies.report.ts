import Type, { type Static } from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import { DATA_FLOWS_TOPIC } from '../../../domain/inventory/data-flows/data-flows.model.ts';
import { raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import {
  arrayOf,
  IntegerIn,
  Nullable,
  OpenObject,
  OptionalText,
  optional,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { type ChartContext, typeNames } from '../../kernel/charts/charts.labels.ts';
import { layersOfTypes } from '../../kernel/charts/charts.type-layers.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { flowMember } from '../../kernel/report.flows.ts';
import { column } from '../../kernel/report.formats.ts';
import { streamedLines } from '../../kernel/report.lines.ts';
import { choices } from '../../kernel/report.params.ts';
import { idKey, idsIn } from '../../kernel/report.rows.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema, type StreamInput } from '../../kernel/report.ts';
import { cardsAround } from './dependencies.around.ts';
import { requestedFields } from './dependencies.fields.ts';
import { type GraphParams, type GraphSql, graphOf } from './dependencies.graph.ts';

const Counts = Type.Record(Type.String(), Type.Integer(), { description: 'The number of all, by type' });

/** The response of the dependencies report. */
export const DependenciesResponse = pagedReportSchema('DependenciesReport', {
  nodes: arrayOf({
    id: Uuid,
    name: Type.String(),
    type: Type.String(),
    ...optional({
      lifecycle: Nullable(CardLifecycle),
      attributes: OpenObject,
      parent_id: Nullable(Uuid),
      path: Type.Array(Type.String(), { description: 'Names of the ancestors, root first' }),
    }),
  }),
  edges: arrayOf({
    source: Uuid,
    target: Uuid,
    type: Type.String(),
    ...optional({
      flow: flowMember('source', 'target'),
      label: Type.String(),
      reverse_label: Nullable(Type.String()),
      description: Nullable(Type.String()),
      attributes: OpenObject,
      via_id: Type.String({ ...Uuid, description: 'With `roll_up`: the card below the center' }),
    }),
  }),
  bundles: Type.Optional(
    arrayOf(
      { card_id: Uuid, type: Type.String(), count: Type.Integer() },
      { description: 'With `bundle`: cards of a type that are related to a card, and left out' },
    ),
  ),
  node_counts: Counts,
  edge_counts: Counts,
});

type Answer = Static<typeof DependenciesResponse>;

const nodeColumns = [
  column('id', 'key'),
  column('name'),
  column('type', 'key'),
  column('parent_id', 'key'),
  column('path'),
];
const edgeColumns = [
  column('source', 'key'),
  column('target', 'key'),
  column('type', 'key'),
  column('label'),
  column('flow', 'key'),
  column('description'),
];
const between = ' / ';
/** Maximum number of cards in a chart of the complete graph. */
const DRAWN = { cards: 80, hubs: 8, peers: 9 };

/** Cards and their relations as a graph. */
export const dependenciesReport = defineReport({
  name: 'dependencies',
  id: 'readDependenciesReport',
  summary: 'Read cards and their relations as a graph',
  description:
    'With `center_id` the cards within `depth` relations of this card that match `filter`; the card itself is always included. Without it the complete graph. The rows are the nodes, by id; `edges` are those that begin at the nodes of the response. `path` contains the names of the ancestors, root first. Data flows are edges of the type `data-flow`, whose attributes name their frequency, interface and data objects.',
  permission: 'reports.ea_dashboard',
  needs: ['relations.view'],
  errors: ['not_found'],
  params: {
    center_id: Type.Optional(
      Type.String({ format: 'uuid', pattern: '^[0-9a-fA-F-]{36}$', description: 'The center of the graph' }),
    ),
    depth: Type.Integer({
      minimum: 1,
      maximum: 3,
      default: 2,
      description: 'Maximum distance from `center_id` in relations and data flows',
    }),
    type: OptionalText(
      100,
      'Key of a card type: only its cards, and the cards related to them',
      choices({ of: 'types' }),
    ),
    fields: OptionalText(
      2000,
      'Comma-separated members besides `id`, `name`, `type` and the ends: `lifecycle`, `attributes`, `attributes.<key>`, `parent_id`, `path`, `edges.label`, `edges.description`, `edges.attributes`; by default all',
    ),
    bundle: Type.Optional(
      IntegerIn(
        1,
        1000,
        'With `center_id`: if a card has more related cards of a type, they are left out and counted',
      ),
    ),
    roll_up: Type.Boolean({
      default: false,
      description: 'With `center_id`: whether relations of the cards below the center count as its own',
    }),
  },
  result: DependenciesResponse,
  reads: { cards: 'any', relations: 'any', dataFlows: true, others: false },
  fewRows: ({ center_id, roll_up }) => center_id !== undefined && !roll_up,
  check(ctx, { fields }) {
    requestedFields(ctx, fields);
  },
  typeParams: ['type'],
  topics: () => ['cards', 'relations', DATA_FLOWS_TOPIC],
  async compute({ sql: db, rows, lines, range, ctx, params, cards, visible, forPicture }) {
    const { center_id, depth, type, bundle, roll_up } = params;
    await db.raw(`set local work_mem = '64MB'`);
    const around =
      center_id === undefined
        ? undefined
        : await cardsAround(db, ctx, { centers: [center_id], depth, bundle, roll_up }, cards, visible);
    if (around?.ids.length === 0) throw notFound('card', center_id!);
    const fields = requestedFields(ctx, params.fields);
    const graph = graphOf(ctx, { type, around, fields }, cards, visible);
    if (forPicture) return await mostRelated(db, graph);
    const read = await rows({
      before: graph.tables,
      from: fragment`k join cards c on c.id = k.id`,
      keys: [idKey],
      line: `${graph.node} || ','`,
      joins: around ? fragment`left join w on w.id = c.parent_id` : pathOfCard(visible),
    });
    const onPage = range ? fragment`where e.source_id = any(${idsIn(read)}::uuid[])` : fragment``;
    const edges = await lines(
      fragment`${embed(graph.tables)} select ${embed(`${graph.edge} || ','`)} ${embed(graph.edges)} ${embed(onPage)}`,
    );
    const counts: string = await query(db).value`${embed(countsOf(graph))}`;
    const bundles = around?.bundles ? `"bundles":${JSON.stringify(around.bundles)},` : '';
    return responseOf(read, edges, `${bundles}${counts.slice(1)}`);
  },
  isPaged: true,
  chart: dependenciesChart,
  tables: ({ nodes, edges }) => [
    {
      name: 'edges',
      columns: edgeColumns,
      rows: edges.map((edge) => [
        edge.source,
        edge.target,
        edge.type,
        edge.label,
        edge.flow,
        edge.description,
      ]),
    },
    {
      name: 'nodes',
      columns: nodeColumns,
      rows: nodes.map((node) => [node.id, node.name, node.type, node.parent_id, node.path?.join(between)]),
    },
  ],
  stream: {
    applies: ({ center_id }) => center_id === undefined,
    open(input) {
      const { type, fields } = input.params;
      const part = { type, fields: requestedFields(input.ctx, fields) };
      const graph = graphOf(input.ctx, part, input.cards, input.visible);
      const select = (list: string, from: string) => sql`${graph.tables} select ${raw(`${list} ${from}`)}`;
      return {
        json: jsonOf(
          input,
          countsOf(graph),
          select(`${graph.node} || ','`, graph.nodes),
          select(`${graph.edge} || ','`, graph.edges),
        ),
        tables: [
          {
            name: 'edges',
            columns: edgeColumns,
            cells: ['e.source_id', 'e.target_id', 'e.type', 't.label', 'e.flow', 'e.description'],
            before: graph.tables,
            from: graph.edges,
          },
          {
            name: 'nodes',
            columns: nodeColumns,
            cells: ['c.id', 'c.name', 'c.type', 'c.parent_id', `array_to_string(w.path, '${between}')`],
            before: graph.tables,
            from: graph.nodes,
          },
        ],
      };
    },
  },
});

/** The counts of a graph by type, as the text of an object. */
const countsOf = ({ tables }: GraphSql): Fragment => fragment`${embed(tables)} select json_build_object(
    'node_counts', (select coalesce(json_object_agg(type, count order by type), '{}')
      from (select c.type, count(*) from k join cards c on c.id = k.id group by c.type) n),
    'edge_counts', (select coalesce(json_object_agg(type, count order by type), '{}')
      from (select e.type, count(*) from e group by e.type) n))::text as counts`;

/** The path of each card of a page, as `w`. */
const pathOfCard = (visible: Fragment): Fragment => fragment`
  cross join lateral (select c.parent_id as above) o
  cross join lateral (
    with recursive up as (
      select c.parent_id, c.name, 1 as height from cards c where c.id = o.above and ${embed(visible)}
      union all
      select c.parent_id, c.name, up.height + 1 from up join cards c on c.id = up.parent_id where ${embed(visible)})
    select array_agg(up.name order by up.height desc) as path from up) w`;

/**
 * Selects the cards for a chart of the complete graph: those with the most relations, their most related neighbours (else
 * the selected cards might not be connected), and then the most related of the others.
 */
async function mostRelated(db: Sql, { tables }: GraphSql): Promise<string> {
  const statement = sql`${tables},
    d as materialized (select id, count(*) as relations
      from (select source_id as id from e union all select target_id from e) ends group by id),
    h as materialized (select id from d order by relations desc, id limit ${DRAWN.hubs}),
    j as (select h.id as hub, e.target_id as id from h join e on e.source_id = h.id
      union select h.id, e.source_id from h join e on e.target_id = h.id),
    s as (select id from (
        select j.id, row_number() over (partition by j.hub order by d.relations desc, d.id) as place from j join d on d.id = j.id
      ) peers where place <= ${DRAWN.peers}),
    m as materialized (select k.id from k left join d on d.id = k.id
      order by k.id in (select id from h) desc, k.id in (select id from s) desc, coalesce(d.relations, 0) desc, k.id
      limit ${DRAWN.cards})
    select json_build_object(
      'nodes', (select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'type', c.type)), '[]')
        from m join cards c on c.id = m.id),
      'edges', (select coalesce(json_agg(json_build_object('source', e.source_id, 'target', e.target_id, 'type', e.type, 'flow', e.flow)), '[]')
        from e where e.source_id in (select id from m) and e.target_id in (select id from m)),
      'total_nodes', (select count(*) from k))::text as answer`;
  return await query(db).value`${embed(statement)}`;
}

type Statement = ReturnType<typeof sql>;

/** The parts of the response: the lines of nodes and edges that the database writes, and the other members. */
const responseOf = <Lines>(nodes: Lines, edges: Lines, rest: string): (string | Lines)[] => [
  '{"nodes":[\n',
  nodes,
  '\n],"edges":[\n',
  edges,
  `\n],${rest}`,
];

/** Yields the response in chunks. */
async function* jsonOf(
  { snapshot, position }: StreamInput<GraphParams>,
  counts: Fragment,
  nodes: Statement,
  edges: Statement,
): AsyncGenerator<string | Buffer> {
  const [all] = await snapshot.query<{ counts: string }>(counts.sql, counts.bindings);
  const nodeCounts: Record<string, number> = JSON.parse(all!.counts).node_counts;
  const count = Object.values(nodeCounts).reduce((sum, one) => sum + one, 0);
  const rest = `${all!.counts.slice(1, -1)},"row_count":${count},"next_cursor":null,"position":"${position}"}`;
  const lines = ({ sql: text, bindings }: Statement) => streamedLines(snapshot.json(text, bindings));
  for (const part of responseOf(lines(nodes), lines(edges), rest)) {
    if (typeof part === 'string') yield part;
    else yield* part;
  }
}

/** The part of the graph in the chart. */
interface DrawnGraph {
  nodes: Pick<Answer['nodes'][number], 'id' | 'name' | 'type'>[];
  edges: Pick<Answer['edges'][number], 'source' | 'target' | 'flow'>[];
  /** Total number of cards, if only some are given. */
  total_nodes?: number;
}

/** A graph of cards in the layers of their types: around the center, or the most related ones. */
function dependenciesChart(
  graph: DrawnGraph,
  { center_id, depth, type }: GraphParams,
  context: ChartContext,
): Chart {
  const { edges, total_nodes } = graph;
  const near = sortNodes(graph, center_id);
  const center = center_id === undefined ? undefined : near.find(({ id }) => id === center_id);
  // cards that are drawn without a relation say nothing
  const isEmpty = center_id === undefined && edges.length === 0;
  return {
    kind: 'graph',
    ...(isEmpty && { empty: reportText(context, 'dependencies.empty') }),
    title: titleOf(type, center?.name, context),
    note: center
      ? reportText(context, 'dependencies.near', { count: near.length - 1, depth })
      : reportText(context, 'dependencies.note', { count: total_nodes ?? near.length }),
    ...layersOfTypes(isEmpty ? [] : near, edges, center, context),
    edges: edges.map(({ source, target, flow }) => ({ source, target, ...(flow ? { flow } : {}) })),
    ...(total_nodes === undefined || isEmpty ? {} : { total: total_nodes }),
  };
}

function titleOf(type: string | undefined, name: string | undefined, context: ChartContext): string {
  if (type === undefined)
    return name === undefined
      ? reportText(context, 'dependencies.title')
      : reportText(context, 'dependencies.around', { name });
  return name === undefined
    ? reportText(context, 'dependencies.ofType', typeNames(context, type))
    : reportText(context, 'dependencies.ofTypeAround', { ...typeNames(context, type), name });
}

/** The nodes by distance from the center, then by descending number of relations. */
function sortNodes({ nodes, edges }: DrawnGraph, center: string | undefined): DrawnGraph['nodes'] {
  const peers = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const { source, target } of edges) {
    peers.get(source)?.push(target);
    peers.get(target)?.push(source);
  }
  const distance = new Map<string, number>();
  const queue = center === undefined ? [] : [center];
  for (const id of queue) distance.set(id, 0);
  // breadth-first search: the queue grows while it is iterated
  for (const id of queue) {
    for (const peer of peers.get(id) ?? []) {
      if (distance.has(peer)) continue;
      distance.set(peer, distance.get(id)! + 1);
      queue.push(peer);
    }
  }
  const far = (id: string) => distance.get(id) ?? Infinity;
  const rank = (a: { id: string }, b: { id: string }) =>
    far(a.id) === far(b.id) ? peers.get(b.id)!.length - peers.get(a.id)!.length : far(a.id) - far(b.id);
  return nodes.toSorted((a, b) => rank(a, b) || (a.id < b.id ? -1 : 1));
}
