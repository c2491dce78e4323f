import Type, { type Static } from 'typebox';
import { forbidden, may } from '../../../domain/kernel/permissions/policy.ts';
import { closed, Nullable, Uuid } from '../../../domain/kernel/shapes.ts';
import { queryValue } from '../../../platform/database.ts';
import { reportAnswer } from '../../kernel/report.answer.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { column } from '../../kernel/report.formats.ts';
import { typeOf, typeParam } from '../../kernel/report.params.ts';
import { jsonLines } from '../../kernel/report.sql.ts';
import { defineReport, type ReportTable } from '../../kernel/report.ts';
import { matrixChart } from './matrix.chart.ts';

const Line = Type.Object({ id: Uuid, name: Type.String(), parent_id: Nullable(Uuid) }, closed);

const Answer = reportAnswer('MatrixReport', {
  rows: Type.Array(Line),
  columns: Type.Array(Line),
  intersections: Type.Array(Type.Object({ row_id: Uuid, col_id: Uuid }, closed)),
});
type Answer = Static<typeof Answer>;

type Line = Static<typeof Line>;

/** Which cards of one type are related to which of another. */
export const matrixReport = defineReport({
  name: 'matrix',
  id: 'readMatrixReport',
  summary: 'Read which cards of two types are related',
  description:
    'An intersection is a pair that a relation of any type joins, in either direction. `filter` narrows the rows.',
  permission: 'reports.ea_dashboard',
  permissionNote: 'relations.view',
  params: { row_type: typeParam('Application'), col_type: typeParam('BusinessCapability') },
  answer: Answer,
  timeTravel: true,
  reads: {
    cards: ['type', 'name', 'name_key', 'parent_id', 'status'],
    relations: ['type', 'source_id', 'target_id'],
    others: false,
  },
  check(ctx, { row_type, col_type }) {
    typeOf(ctx, 'row_type', row_type);
    typeOf(ctx, 'col_type', col_type);
    if (!may(ctx.caller, 'relations.view')) throw forbidden('relations.view');
  },
  dependsOn: (topic, { row_type, col_type }) =>
    topic === 'metamodel' ||
    topic.startsWith('relations:') ||
    topic === `cards:${row_type}` ||
    topic === `cards:${col_type}`,
  variant: () => '',
  async compute({ sql, ctx, params, cards, visible }) {
    const pairs = relatedPairs(ctx, params.row_type, params.col_type);
    const line = (alias: string) =>
      `json_build_object('id', ${alias}.id, 'name', ${alias}.name, 'parent_id', ${alias}.parent_id)`;
    return await queryValue(
      sql,
      `with l as materialized (
         select c.id, c.name, c.name_key, c.parent_id from cards c where c.type = ? and ${cards.sql}
       ), k as materialized (
         select c.id, c.name, c.name_key, c.parent_id from cards c where c.type = ? and ${visible.sql}
       ), x as (
         select ${pairs.once} p.card_id, p.other_id from (${pairs.sql}) p
         join l on l.id = p.card_id join k on k.id = p.other_id
       )
       select '{"rows":' || (select ${jsonLines(line('l'), 'l.name_key, l.id')} from l)
         || ',"columns":' || (select ${jsonLines(line('k'), 'k.name_key, k.id')} from k)
         || ',"intersections":'
         || (select ${jsonLines(`json_build_object('row_id', x.card_id, 'col_id', x.other_id)`, 'x.card_id, x.other_id')} from x)
         || '}' as answer`,
      [params.row_type, ...cards.bindings, params.col_type, ...visible.bindings, ...pairs.bindings],
    );
  },
  tables: ({ rows, columns, intersections }) => [
    {
      name: 'intersections',
      columns: [column('row_id', 'key'), column('row'), column('col_id', 'key'), column('column')],
      rows: named(rows, columns, intersections),
    },
    linesTable('rows', rows),
    linesTable('columns', columns),
  ],
  chart: (answer, params, context) => matrixChart(answer, params, context),
});

function* named(rows: Line[], columns: Line[], pairs: Answer['intersections']) {
  const names = new Map([...rows, ...columns].map(({ id, name }) => [id, name]));
  for (const { row_id, col_id } of pairs) yield [row_id, names.get(row_id), col_id, names.get(col_id)];
}

const linesTable = (name: string, lines: Line[]): ReportTable => ({
  name,
  columns: [column('id', 'key'), column('name'), column('parent_id', 'key')],
  rows: lines.map(({ id, name: text, parent_id }) => [id, text, parent_id]),
});
