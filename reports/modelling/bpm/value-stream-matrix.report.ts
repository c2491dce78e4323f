import Type, { type Static } from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { type ChartContext, noValue, typeLabel, typeNames } from '../../kernel/charts/charts.labels.ts';
import type { MatrixChart } from '../../kernel/charts/charts.types.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { cardsOfPage } from '../../kernel/report.rows.ts';
import { jsonLines } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';
import { ofProcesses, relatedTo } from './bpm.shared.ts';

const Name = Type.String();
const Subtype = Nullable(Type.String());
const card = { id: Uuid, name: Name, subtype: Subtype, parent_id: Nullable(Uuid) };

const Result = pagedReportSchema('ValueStreamMatrix', {
  organizations: arrayOf(card),
  contexts: arrayOf({
    ...card,
    attributes: OpenObject,
    sort_order: Nullable(Type.Number()),
    column_width: Nullable(Type.Number()),
  }),
  cells: Type.Record(
    Type.String(),
    Type.Record(
      Type.String(),
      arrayOf({
        ...card,
        attributes: OpenObject,
        lifecycle: Nullable(CardLifecycle),
        apps: arrayOf({ id: Uuid, name: Name, subtype: Subtype }),
      }),
    ),
    { description: 'By organisation, then by business context or `__none__`' },
  ),
  unassigned: arrayOf({ id: Uuid, name: Name, subtype: Subtype, attributes: OpenObject }),
});

type Result = Static<typeof Result>;

const others = ['Organization', 'BusinessContext', 'Application'] as const;

/** Key for processes without a context. */
const NO_CONTEXT = '__none__';

const head = (alias: string) =>
  `'id', ${alias}.id, 'name', ${alias}.name, 'subtype', ${alias}.subtype, 'parent_id', ${alias}.parent_id`;
const number = (key: string) =>
  `case when jsonb_typeof(c.attributes -> '${key}') = 'number' then (c.attributes -> '${key}')::numeric end`;

/** Processes by organisation and value stream. */
export const valueStreamMatrixReport = defineReport({
  ...ofProcesses,
  name: 'bpm-value-stream-matrix',
  id: 'readValueStreamMatrix',
  summary: 'Read processes by organisation and value stream',
  description:
    '`cells` lists by organisation and business context (`__none__` for processes without one) the processes that are related to both; `unassigned` lists those without an organisation. A context’s `sort_order` and `column_width` are its attributes `sortOrder` and `columnWidth`, if they exist. `filter` applies to the processes.',
  needs: ['relations.view'],
  result: Result,
  topics: () => ['relations', ...[PROCESS, ...others].map((type) => `cards:${type}`)],
  isPaged: true,
  async compute({ sql, ctx, cards, visible, ...page }) {
    const shown = await cardsOfPage(page, fragment`c.type = ${PROCESS} and ${embed(cards)}`);
    const [orgs, contexts, apps] = others.map((type) => relatedTo(ctx, type));
    const seen = (name: string, pairs: Fragment, type: string) =>
      fragment`${embed(name)} as materialized (select b.process_id, b.other_id from (${embed(pairs)}) b join p on p.id = b.process_id
         join cards c on c.id = b.other_id where c.type = ${type} and ${embed(visible)})`;
    return await query(sql).value`with p as materialized (
         select c.id, c.name, c.name_key, c.subtype, c.parent_id, c.lifecycle,
           ${embed(reportAttributes(ctx, [PROCESS]))} as attributes
         from cards c where ${embed(shown)}),
       ${embed(seen('orgs', orgs!, 'Organization'))}, ${embed(seen('contexts', contexts!, 'BusinessContext'))},
       apps as (
         select b.process_id, json_agg(json_build_object('id', c.id, 'name', c.name, 'subtype', c.subtype)
             order by c.name_key, c.id) as items
         from (${embed(apps!)}) b join p on p.id = b.process_id join cards c on c.id = b.other_id
         where ${embed(visible)} group by b.process_id),
       placed as (
         select orgs.other_id as org, coalesce(contexts.other_id::text, ${NO_CONTEXT}::text) as context,
           json_agg(json_build_object(${embed(head('p'))}, 'attributes', p.attributes, 'lifecycle', p.lifecycle,
             'apps', coalesce(apps.items, '[]')) order by p.name_key, p.id) as items
         from orgs join p on p.id = orgs.process_id left join contexts on contexts.process_id = p.id
           left join apps on apps.process_id = p.id
         group by 1, 2),
       byorg as (select org, json_object_agg(context, items order by context) as cells from placed group by org)
       select '{"organizations":' || (select ${embed(jsonLines(`json_build_object(${head('c')})`, 'c.name_key, c.id'))}
           from cards c where c.type = 'Organization' and ${embed(visible)})
         || ',"contexts":' || (select ${embed(
           jsonLines(
             `json_build_object(${head('c')}, 'attributes', ${reportAttributes(ctx, ['BusinessContext'])},
              'sort_order', ${number('sortOrder')}, 'column_width', ${number('columnWidth')})`,
             `${number('sortOrder')} nulls last, c.name_key, c.id`,
           ),
         )} from cards c where c.type = 'BusinessContext' and ${embed(visible)})
         || ',"cells":' || (select coalesce(json_object_agg(byorg.org, byorg.cells order by byorg.org), '{}')::text from byorg)
         || ',"unassigned":' || (select ${embed(
           jsonLines(
             `json_build_object('id', p.id, 'name', p.name, 'subtype', p.subtype, 'attributes', p.attributes)`,
             'p.name_key, p.id',
           ),
         )} from p where not exists (select from orgs where orgs.process_id = p.id)) || '}' as result`;
  },
  chart: (result, _params, context) => valueStreamChart(result, context),
  tables({ organizations, contexts, cells, unassigned }) {
    const names = new Map([...organizations, ...contexts].map(({ id, name }) => [id, name]));
    const placed = Object.entries(cells).flatMap(([organization_id, byContext]) =>
      Object.entries(byContext).flatMap(([context_id, items]) =>
        items.map(({ id, name }) => ({
          organization_id,
          organization: names.get(organization_id),
          context_id: context_id === NO_CONTEXT ? null : context_id,
          context: names.get(context_id),
          process_id: id,
          process: name,
        })),
      ),
    );
    return [
      reportTable(
        'cells',
        {
          organization_id: 'key',
          organization: 'text',
          context_id: 'key',
          context: 'text',
          process_id: 'key',
          process: 'text',
        },
        placed,
      ),
      reportTable('unassigned', { id: 'key', name: 'text', subtype: 'key' }, unassigned),
    ];
  },
});

/** One cell per organization and context, shaded by the number of processes. */
function valueStreamChart(result: Result, context: ChartContext): MatrixChart {
  const rows = result.organizations.filter(({ id }) => result.cells[id]);
  const used = Object.values(result.cells).some((cells) => cells[NO_CONTEXT]);
  const columns = [...result.contexts, ...(used ? [{ id: NO_CONTEXT, name: noValue(context) }] : [])];
  const columnAt = new Map(columns.map(({ id }, index) => [id, index]));
  const left = result.unassigned.length;
  return {
    kind: 'matrix',
    title: reportText(context, 'bpm.streams', typeNames(context, PROCESS)),
    note: reportText(context, left > 0 ? 'bpm.streams.left' : 'bpm.streams.note', { count: left }),
    ordered: true,
    rowAxis: typeLabel(context, 'Organization'),
    columnAxis: typeLabel(context, 'BusinessContext'),
    valueAxis: reportText(context, 'axis.processes'),
    unit: 'count',
    rows: rows.map(({ name }) => ({ name })),
    columns: columns.map(({ name }) => ({ name })),
    cells: rows.flatMap(({ id }, row) =>
      Object.entries(result.cells[id]!).map(([column, found]): [number, number, number] => [
        row,
        columnAt.get(column)!,
        found.length,
      ]),
    ),
  };
}
