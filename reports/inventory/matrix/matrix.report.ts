import Type, { type Static } from 'typebox';
import { DATA_FLOWS_TOPIC, DATA_OBJECT } from '../../../domain/inventory/data-flows/data-flows.model.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { arrayOf, Choice, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import {
  type ChartContext,
  decapitalised,
  typeLabel,
  typePlural,
} from '../../kernel/charts/charts.labels.ts';
import type { Chart, FlowDirection, MatrixLine } from '../../kernel/charts/charts.types.ts';
import { chooseRelatedType, type RelatedPairs, relatedPairs } from '../../kernel/report.ends.ts';
import { directedPairs, flowMember, hasFlows, sendingPairs } from '../../kernel/report.flows.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { relatedTypeParam, typeParam } from '../../kernel/report.params.ts';
import { idsIn, MAX_ROWS, nameKeys } from '../../kernel/report.rows.ts';
import { rolledUp, rollUpParam } from '../../kernel/report.scope.ts';
import { jsonLine } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';

const Line = object({ id: Uuid, name: Type.String(), parent_id: Nullable(Uuid) });

const Result = pagedReportSchema('MatrixReport', {
  col_type: Type.String({ description: 'The type of the columns' }),
  rows: Type.Array(Line),
  columns: Type.Array(Line),
  intersections: arrayOf({
    row_id: Uuid,
    col_id: Uuid,
    flow: Type.Optional(Nullable(flowMember('row', 'column'))),
    data_objects: Type.Optional(Type.Array(Type.String(), { description: 'Names; for data flows' })),
  }),
  column_count: Type.Integer(),
  intersection_count: Type.Integer(),
});
type Result = Static<typeof Result>;

type Line = Static<typeof Line>;

/** A matrix of the relations between the cards of two types. */
export const matrixReport = defineReport({
  name: 'matrix',
  id: 'readMatrixReport',
  summary: 'Read which cards of two types are related',
  description: `An intersection is a pair of cards with a relation of any type, in either direction; \`flow\` is given where these have directions. For data flows, the row sends data to the column. \`filter\` applies to the rows. \`intersections\` are those of the rows of the response; of more than ${MAX_ROWS} columns, \`columns\` has those with intersections.`,
  permission: 'reports.ea_dashboard',
  needs: ['relations.view'],
  params: {
    row_type: typeParam('Application'),
    col_type: relatedTypeParam('BusinessCapability'),
    related_by: Choice(['relation', 'data_flow'], {
      default: 'relation',
      description: 'Whether pairs are related cards, or cards of which the row sends data to the column',
    }),
    roll_up: rollUpParam,
  },
  result: Result,
  reads: (ctx, params) => ({
    cards: ['type', 'name', 'name_key', 'parent_id', 'status'],
    relations: ['type', 'source_id', 'target_id', ...(isDirected(ctx, params) ? ['attributes'] : [])],
    dataFlows: params.related_by === 'data_flow',
    others: false,
  }),
  typeParams: ['row_type', 'col_type'],
  topics: ({ row_type, col_type, related_by }) => [
    ...(related_by === 'data_flow' ? [DATA_FLOWS_TOPIC, `cards:${DATA_OBJECT}`] : ['relations']),
    ...(col_type === undefined ? ['cards'] : [`cards:${row_type}`, `cards:${col_type}`]),
  ],
  async compute({ sql, lines, rows, range, ctx, params: given, cards, visible }) {
    const params = {
      ...given,
      col_type: given.col_type ?? (await columnsFor(sql, ctx, given, cards, visible)),
    };
    const ofRows = fragment`c.type = ${params.row_type} and ${embed(cards)}`;
    const ofColumns = fragment`c.type = ${params.col_type} and ${embed(visible)}`;
    const direct = pairsOf(ctx, params);
    const pairs = params.roll_up
      ? rolledUp(rolledUp(direct, 'card_id', ofRows), 'other_id', ofColumns)
      : direct;
    const line = jsonLine({
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      parent_id: { text: 'c.parent_id' },
    });
    const read = await rows({ from: fragment`cards c where ${embed(ofRows)}`, keys: nameKeys, line });
    const known = fragment`(${embed(pairs)}) p
      join cards c on c.id = p.card_id and ${embed(ofRows)}
      where p.other_id in (select c.id from cards c where ${embed(ofColumns)})`;
    const related = direct.more
      ? directed(known, direct.more)
      : fragment`select ${embed(pairs.once)} p.card_id, p.other_id from ${embed(known)}`;
    const counts: Record<'column_count' | 'intersection_count', number> = await query(sql)
      .value`select json_build_object('column_count', (select count(*) from cards c where ${embed(ofColumns)}),
        'intersection_count', (select count(*) from (${embed(related)}) x))`;
    const onPage = range
      ? fragment`select * from (${embed(related)}) x where x.card_id = any(${idsIn(read)}::uuid[])`
      : related;
    const pair = jsonLine({
      row_id: { id: 'x.card_id' },
      col_id: { id: 'x.other_id' },
      ...(direct.more && { flow: { text: 'x.flow' } }),
      ...(direct.more?.includes('data_object_ids') && { data_objects: { json: 'x.data_objects' } }),
    });
    const named = direct.more?.includes('data_object_ids')
      ? fragment`select x.*, (select coalesce(json_agg(c.name order by c.name_key, c.id), '[]') from cards c
          where c.id = any(x.data_object_ids) and ${embed(visible)}) as data_objects from (${embed(onPage)}) x`
      : onPage;
    const intersections = await lines(
      fragment`select ${embed(pair)} from (${embed(named)}) x order by x.card_id, x.other_id`,
    );
    const isLong = range && counts.column_count > MAX_ROWS;
    const shown = isLong ? fragment`and c.id in (select x.other_id from (${embed(onPage)}) x)` : fragment``;
    const columns =
      range?.limit === 0
        ? Buffer.alloc(0)
        : await lines(
            fragment`select ${embed(line)} from cards c where ${embed(ofColumns)} ${embed(shown)} order by c.name_key, c.id`,
          );
    return [
      ...[
        `{"col_type":${JSON.stringify(params.col_type)},"rows":[\n`,
        read,
        '\n],"columns":[\n',
        columns,
        '\n],"intersections":[\n',
        intersections,
      ],
      `\n],${JSON.stringify(counts).slice(1)}`,
    ];
  },
  isPaged: true,
  omitsGroups: true,
  tables: ({ rows, columns, intersections }) => [
    reportTable(
      'intersections',
      {
        ...{ row_id: 'key', row: 'text', col_id: 'key', column: 'text' },
        ...(intersections.some(({ flow }) => flow !== undefined) && { flow: 'key' }),
        ...(intersections.some((pair) => pair.data_objects) && { data_objects: 'text' }),
      },
      named(rows, columns, intersections),
    ),
    ...Object.entries({ rows, columns }).map(([name, lines]) =>
      reportTable(name, { id: 'key', name: 'text', parent_id: 'key' }, lines),
    ),
  ],
  chart: (result, params, context) =>
    matrixChart(result, { ...params, col_type: params.col_type ?? result.col_type }, context),
});

interface Pairs {
  row_type: string;
  col_type: string;
  related_by: string;
}

/** The type of the columns, if none is named. */
const columnsFor = async (
  sql: Sql,
  ctx: Ctx,
  { row_type, related_by }: Omit<Pairs, 'col_type'>,
  cards: Fragment,
  others: Fragment,
): Promise<string> =>
  related_by === 'data_flow'
    ? row_type
    : await chooseRelatedType({ sql, ctx, cards, others }, row_type, 'BusinessCapability');

/** Whether the relations between the two types have directions of data. */
const isDirected = (ctx: Ctx, { row_type, col_type }: { row_type: string; col_type?: string }): boolean =>
  col_type === undefined || hasFlows(ctx, row_type, col_type);

/** The pairs of a matrix, with `flow` if they have one. */
function pairsOf(ctx: Ctx, params: Pairs): RelatedPairs {
  if (params.related_by === 'data_flow') return sendingPairs;
  const pairs = isDirected(ctx, params) ? directedPairs : relatedPairs;
  return pairs(ctx, params.row_type, params.col_type);
}

/** Each pair once, with all directions and data objects of those between the same cards. */
function directed(pairs: Fragment, more: readonly string[]): Fragment {
  const hasObjects = more.includes('data_object_ids');
  const objects = hasObjects
    ? `, array_agg(distinct o.id) filter (where o.id is not null) as data_object_ids`
    : '';
  const each = hasObjects
    ? fragment`(select p.card_id, p.other_id, p.flow, p.data_object_ids from ${embed(pairs)}) p
        left join unnest(p.data_object_ids) as o (id) on true`
    : fragment`(select p.card_id, p.other_id, p.flow from ${embed(pairs)}) p`;
  return fragment`select p.card_id, p.other_id,
      case when bool_or(p.flow <> 'reverse') and bool_or(p.flow <> 'forward') then 'bidirectional'
        when bool_or(p.flow <> 'reverse') then 'forward' when bool_or(p.flow <> 'forward') then 'reverse' end as flow
      ${embed(objects)}
    from ${embed(each)} group by p.card_id, p.other_id`;
}

function* named(rows: Line[], columns: Line[], pairs: Result['intersections']) {
  const names = new Map([...rows, ...columns].map(({ id, name }) => [id, name]));
  for (const pair of pairs) {
    const [row, column] = [names.get(pair.row_id), names.get(pair.col_id)];
    yield {
      ...pair,
      row,
      column,
      flow: pair.flow ?? null,
      data_objects: pair.data_objects?.join(', ') ?? null,
    };
  }
}

type Named = Pick<Line, 'id' | 'name'> & { parent_id?: string | null };

interface MatrixInput {
  rows: Named[];
  columns: Named[];
  intersections: { row_id: string; col_id: string; flow?: FlowDirection | null; data_objects?: string[] }[];
}

/** One cell per pair, with an arrow where data flows; the lines are grouped by what lies above them. */
export function matrixChart(
  { rows, columns, intersections }: MatrixInput,
  { row_type, col_type, related_by }: { row_type: string; col_type: string; related_by?: string },
  context: ChartContext,
): Chart {
  const rowAt = new Map(rows.map(({ id }, index) => [id, index]));
  const columnAt = new Map(columns.map(({ id }, index) => [id, index]));
  const [row, column] = [typeLabel(context, row_type), typeLabel(context, col_type)];
  const isFlow = related_by === 'data_flow';
  return {
    kind: 'matrix',
    title: reportText(context, isFlow ? 'matrix.flows' : 'matrix.title', {
      row,
      rows: typePlural(context, row_type),
      column: isFlow ? column : decapitalised(column, context),
    }),
    note: reportText(context, isFlow ? 'matrix.flows.note' : 'matrix.note', {
      pairs: intersections.length,
      rows: rows.length,
      columns: columns.length,
    }),
    rowAxis: isFlow ? reportText(context, 'matrix.from', { type: row }) : row,
    columnAxis: isFlow ? reportText(context, 'matrix.to', { type: column }) : column,
    valueAxis: reportText(context, isFlow ? 'matrix.sends' : 'matrix.related'),
    unit: 'count',
    rows: linesOf(rows),
    columns: linesOf(columns),
    cells: intersections.map(({ row_id, col_id }): [number, number, number] => [
      rowAt.get(row_id)!,
      columnAt.get(col_id)!,
      1,
    ]),
    ...(intersections.some(({ flow }) => flow) && {
      flows: intersections.map(({ flow }) => flow ?? null),
    }),
  };
}

/** Lines with what lies above each, nearest first. */
function linesOf(lines: Named[]): MatrixLine[] {
  const byId = new Map(lines.map((one) => [one.id, one]));
  return lines.map((one) => {
    const above: { key: string; name: string }[] = [];
    const seen = new Set([one.id]);
    let parent = byId.get(one.parent_id ?? '');
    while (parent && !seen.has(parent.id)) {
      seen.add(parent.id);
      above.push({ key: parent.id, name: parent.name });
      parent = byId.get(parent.parent_id ?? '');
    }
    return { key: one.id, name: one.name, above };
  });
}
