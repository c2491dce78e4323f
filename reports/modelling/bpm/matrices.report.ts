import Type, { type Static, type TProperties } from 'typebox';
import { arrayOf, Choice, Nullable, OpenObject, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { BPM_TOPIC, PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { matrixChart } from '../../inventory/matrix/matrix.report.ts';
import type { ChartContext } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import type { Cell, ColumnType } from '../../kernel/formats/formats.types.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { cardsOfPage, MAX_ROWS } from '../../kernel/report.rows.ts';
import { jsonLines } from '../../kernel/report.sql.ts';
import { defineReport, pagedReportSchema, type ReportInput, type ReportTable } from '../../kernel/report.ts';
import { applicationLinks, ofProcesses, relatedTo } from './bpm.shared.ts';

const Line = object({ id: Uuid, name: Type.String() });
type Line = Static<typeof Line>;

const matrixResult = <const C extends TProperties>($id: string, cell: C) =>
  pagedReportSchema($id, {
    rows: Type.Array(Line),
    columns: Type.Array(Line),
    cells: arrayOf(cell),
    column_count: Type.Integer(),
  });

const CAPABILITY = 'BusinessCapability';
const APPLICATION = 'Application';

const line = (alias: string) => `json_build_object('id', ${alias}.id, 'name', ${alias}.name)`;
const lines = (alias: string) => jsonLines(line(alias), `${alias}.name_key, ${alias}.id`);
const topics = (other: string) => ['relations', `cards:${PROCESS}`, `cards:${other}`];

/** The cells of a matrix in SQL, over the processes `p`, the cards `k` of the other type and their related pairs `b`. */
interface Cells {
  /** A query of all cells. */
  sql: string;
  /** One cell as JSON over the alias `x`, and the order of cells. */
  json: string;
  order: string;
}

/** The processes of the report, all cards of another type, and the cells. */
async function matrixText(
  { sql, ctx, cards, visible, ...page }: ReportInput<object>,
  other: string,
  cells: Cells,
): Promise<string> {
  const pairs = relatedTo(ctx, other);
  const shown = await cardsOfPage(page, fragment`c.type = ${PROCESS} and ${embed(cards)}`);
  const ofColumns = fragment`c.type = ${other} and ${embed(visible)}`;
  return await query(sql).value`with p as materialized (
       select c.id, c.name, c.name_key from cards c where ${embed(shown)}),
     k as materialized (select c.id, c.name, c.name_key from cards c where ${embed(ofColumns)}),
     b as (select b.* from (${embed(pairs)}) b join p on p.id = b.process_id join k on k.id = b.other_id),
     x as materialized (${embed(cells.sql)}),
     column_count as (select count(*) as n from k),
     m as (select k.* from k, column_count where n <= ${page.range ? MAX_ROWS : null}::int is not false
       or k.id in (select x.other_id from x))
     select '{"rows":' || (select ${embed(lines('p'))} from p) || ',"columns":' || (select ${embed(lines('m'))} from m)
       || ',"cells":' || (select ${embed(jsonLines(cells.json, cells.order))} from x)
       || ',"column_count":' || (select n from column_count) || '}'`;
}

interface Matrix {
  rows: Line[];
  columns: Line[];
  cells: { process_id: string }[];
}

/**
 * The tables of a matrix.
 * @param other name of its columns. @param more further columns of the cells.
 */
function matrixTables(
  { rows, columns, cells }: Matrix,
  other: 'capability' | 'application',
  more: Record<string, ColumnType> = {},
): ReportTable[] {
  const names = new Map([...rows, ...columns].map(({ id, name }) => [id, name]));
  const named = cells.map(
    (cell): Record<string, Cell> => ({
      ...cell,
      process: names.get(cell.process_id),
      [other]: names.get((cell as Record<string, string>)[`${other}_id`] ?? ''),
    }),
  );
  const kinds = {
    process_id: 'key',
    process: 'text',
    [`${other}_id`]: 'key',
    [other]: 'text',
    ...more,
  } as const;
  return [
    reportTable('cells', kinds as Record<string, ColumnType>, named),
    ...Object.entries({ rows, columns }).map(([name, lines]) =>
      reportTable(name, { id: 'key', name: 'text' }, lines),
    ),
  ];
}

/** One filled cell per pair of process and card. */
function processMatrixChart(
  { rows, columns, cells }: Matrix,
  type: string,
  key: 'capability_id' | 'application_id',
  context: ChartContext,
): Chart {
  const pairs = new Map<string, { row_id: string; col_id: string }>();
  for (const cell of cells) {
    const col_id = (cell as Record<string, unknown>)[key] as string;
    pairs.set(`${cell.process_id} ${col_id}`, { row_id: cell.process_id, col_id });
  }
  const types = { row_type: PROCESS, col_type: type };
  return matrixChart({ rows, columns, intersections: [...pairs.values()] }, types, context);
}

/** Which processes support which capabilities. */
export const capabilityProcessMatrixReport = defineReport({
  ...ofProcesses,
  name: 'bpm-capability-process-matrix',
  id: 'readCapabilityProcessMatrix',
  summary: 'Read which processes support which capabilities',
  description:
    'Rows are processes, columns capabilities; a cell is a related pair. `filter` applies to the rows.',
  result: matrixResult('CapabilityProcessMatrix', {
    process_id: Uuid,
    capability_id: Uuid,
    attributes: OpenObject,
  }),
  isPaged: true,
  needs: ['relations.view'],
  types: [PROCESS, CAPABILITY],
  topics: () => topics(CAPABILITY),
  compute: async (input) =>
    await matrixText(input, CAPABILITY, {
      sql: 'select b.* from b',
      json: `json_build_object('process_id', x.process_id, 'capability_id', x.other_id, 'attributes', x.attributes)`,
      order: 'x.process_id, x.other_id',
    }),
  tables: (result) => matrixTables(result, 'capability'),
  chart: (result, _params, context) => processMatrixChart(result, CAPABILITY, 'capability_id', context),
});

/** Which processes use which applications, by relations and by elements of diagrams. */
export const processApplicationMatrixReport = defineReport({
  ...ofProcesses,
  name: 'bpm-process-application-matrix',
  id: 'readProcessApplicationMatrix',
  summary: 'Read which processes use which applications',
  description:
    'Rows are processes, columns applications. A cell comes from a relation, with its attributes, or from an element of the diagram, with its name and type. `filter` applies to the rows.',
  isPaged: true,
  needs: ['relations.view', 'bpm.view'],
  types: [PROCESS, APPLICATION],
  result: matrixResult('ProcessApplicationMatrix', {
    process_id: Uuid,
    application_id: Nullable(Uuid),
    source: Choice(['relation', 'element']),
    attributes: Type.Optional(OpenObject),
    element_name: Type.Optional(Type.String()),
    element_type: Type.Optional(Type.String()),
  }),
  isCurrentOnly: true,
  topics: () => [BPM_TOPIC, ...topics(APPLICATION)],
  compute: async (input) =>
    await matrixText(input, APPLICATION, {
      sql: `
        select b.process_id, b.other_id, 1 as part, 0 as place, json_build_object('process_id', b.process_id,
          'application_id', b.other_id, 'source', 'relation', 'attributes', b.attributes) as cell
        from b
        union all
        select p.id, l.application_id, 2, e.sequence_order, json_build_object('process_id', p.id, 'application_id',
          l.application_id, 'source', 'element', 'element_name', e.name, 'element_type', e.element_type)
        from p ${applicationLinks} join k on k.id = l.application_id`,
      json: 'x.cell',
      order: 'x.process_id, x.other_id, x.part, x.place',
    }),
  tables: (result) =>
    matrixTables(result, 'application', { source: 'key', element_name: 'text', element_type: 'key' }),
  chart: (result, _params, context) => processMatrixChart(result, APPLICATION, 'application_id', context),
});
