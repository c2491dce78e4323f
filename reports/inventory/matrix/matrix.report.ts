import Type, { type Static } from 'typebox';
import { arrayOf, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import { counted, formatCount } from '../../kernel/charts/charts.numbers.ts';
import type { Chart, MatrixLine } from '../../kernel/charts/charts.types.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { typeParam } from '../../kernel/report.params.ts';
import { idsIn, MAX_ROWS, nameKeys } from '../../kernel/report.rows.ts';
import { rolledUp, rollUpParam } from '../../kernel/report.scope.ts';
import { jsonLine } from '../../kernel/report.sql.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';

const Line = object({ id: Uuid, name: Type.String(), parent_id: Nullable(Uuid) });

const Result = pagedReportSchema('MatrixReport', {
  rows: Type.Array(Line),
  columns: Type.Array(Line),
  intersections: arrayOf({ row_id: Uuid, col_id: Uuid }),
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
  description: `An intersection is a pair of cards with a relation of any type, in either direction. \`filter\` applies to the rows. \`intersections\` are those of the rows of the response; of more than ${MAX_ROWS} columns, \`columns\` has those with intersections.`,
  permission: 'reports.ea_dashboard',
  needs: ['relations.view'],
  params: {
    row_type: typeParam('Application'),
    col_type: typeParam('BusinessCapability'),
    roll_up: rollUpParam,
  },
  result: Result,
  reads: {
    cards: ['type', 'name', 'name_key', 'parent_id', 'status'],
    relations: ['type', 'source_id', 'target_id'],
    others: false,
  },
  typeParams: ['row_type', 'col_type'],
  topics: ({ row_type, col_type }) => ['relations', `cards:${row_type}`, `cards:${col_type}`],
  async compute({ sql, lines, rows, range, ctx, params, cards, visible }) {
    const ofRows = fragment`c.type = ${params.row_type} and ${embed(cards)}`;
    const ofColumns = fragment`c.type = ${params.col_type} and ${embed(visible)}`;
    const direct = relatedPairs(ctx, params.row_type, params.col_type);
    const pairs = params.roll_up
      ? rolledUp(rolledUp(direct, 'card_id', ofRows), 'other_id', ofColumns)
      : direct;
    const line = jsonLine({
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      parent_id: { text: 'c.parent_id' },
    });
    const read = await rows({ from: fragment`cards c where ${embed(ofRows)}`, keys: nameKeys, line });
    const related = fragment`select ${embed(pairs.once)} p.card_id, p.other_id from (${embed(pairs)}) p
      join cards c on c.id = p.card_id and ${embed(ofRows)}
      where p.other_id in (select c.id from cards c where ${embed(ofColumns)})`;
    const counts: Record<'column_count' | 'intersection_count', number> = await query(sql)
      .value`select json_build_object('column_count', (select count(*) from cards c where ${embed(ofColumns)}),
        'intersection_count', (select count(*) from (${embed(related)}) x))`;
    const onPage = range
      ? fragment`select * from (${embed(related)}) x where x.card_id = any(${idsIn(read)}::uuid[])`
      : related;
    const pair = jsonLine({ row_id: { id: 'x.card_id' }, col_id: { id: 'x.other_id' } });
    const intersections = await lines(
      fragment`select ${embed(pair)} from (${embed(onPage)}) x order by x.card_id, x.other_id`,
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
      ...['{"rows":[\n', read, '\n],"columns":[\n', columns, '\n],"intersections":[\n', intersections],
      `\n],${JSON.stringify(counts).slice(1)}`,
    ];
  },
  isPaged: true,
  omitsGroups: true,
  tables: ({ rows, columns, intersections }) => [
    reportTable(
      'intersections',
      { row_id: 'key', row: 'text', col_id: 'key', column: 'text' },
      named(rows, columns, intersections),
    ),
    ...Object.entries({ rows, columns }).map(([name, lines]) =>
      reportTable(name, { id: 'key', name: 'text', parent_id: 'key' }, lines),
    ),
  ],
  chart: matrixChart,
});

function* named(rows: Line[], columns: Line[], pairs: Result['intersections']) {
  const names = new Map([...rows, ...columns].map(({ id, name }) => [id, name]));
  for (const pair of pairs) yield { ...pair, row: names.get(pair.row_id), column: names.get(pair.col_id) };
}

type Named = Pick<Line, 'id' | 'name'> & { parent_id?: string | null };

/** One cell per related pair; the lines are grouped by what lies above them. */
export function matrixChart(
  result: { rows: Named[]; columns: Named[]; intersections: { row_id: string; col_id: string }[] },
  { row_type, col_type }: { row_type: string; col_type: string },
  context: ChartContext,
): Chart {
  const { rows, columns, intersections } = result;
  const rowAt = new Map(rows.map(({ id }, index) => [id, index]));
  const columnAt = new Map(columns.map(({ id }, index) => [id, index]));
  const [row, column] = [typeLabel(context, row_type), typeLabel(context, col_type)];
  return {
    kind: 'matrix',
    title: `${row} by ${column}`,
    note: `${counted(intersections.length, 'related pair')} of ${formatCount(rows.length)} × ${formatCount(columns.length)} cards`,
    rowAxis: row,
    columnAxis: column,
    valueAxis: 'Related',
    unit: 'count',
    rows: linesOf(rows),
    columns: linesOf(columns),
    cells: intersections.map(({ row_id, col_id }): [number, number, number] => [
      rowAt.get(row_id)!,
      columnAt.get(col_id)!,
      1,
    ]),
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
