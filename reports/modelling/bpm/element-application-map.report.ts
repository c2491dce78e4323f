import Type from 'typebox';
import { arrayOf, Nullable, Uuid } from '../../../domain/kernel/shapes.ts';
import { BPM_TOPIC, PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { elementId } from '../../../domain/modelling/bpm/elements.list.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { typeLabel, typeNames } from '../../kernel/charts/charts.labels.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { cardsOfPage } from '../../kernel/report.rows.ts';
import { jsonLines } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';
import { applicationLinks, ofProcesses } from './bpm.shared.ts';

const Name = Type.String();

const Result = pagedReportSchema('ElementApplicationMap', {
  items: arrayOf({
    application_id: Nullable(Uuid),
    application_name: Nullable(Type.String()),
    elements: arrayOf({
      element_id: Uuid,
      element_name: Type.String(),
      element_type: Type.String(),
      lane_name: Nullable(Type.String()),
      process_id: Uuid,
      process_name: Name,
    }),
  }),
});

const APPLICATION = 'Application';

/** Diagram elements by linked application. */
export const elementApplicationMapReport = defineReport({
  ...ofProcesses,
  name: 'bpm-element-application-map',
  id: 'readElementApplicationMap',
  summary: 'Read diagram elements by linked application',
  description:
    'Applications to which a diagram element is linked, by name. `filter` applies to the processes.',
  needs: ['bpm.view'],
  types: [PROCESS, APPLICATION],
  result: Result,
  isCurrentOnly: true,
  topics: () => [BPM_TOPIC, `cards:${PROCESS}`, `cards:${APPLICATION}`],
  isPaged: true,
  async compute({ sql, cards, visible, ...page }) {
    const processes = fragment`select c.id, c.name, c.name_key from cards c where c.type = ${PROCESS} and ${embed(cards)}`;
    const linked = fragment`c.type = ${APPLICATION} and ${embed(visible)}
      and c.id in (select l.application_id from (${embed(processes)}) p ${embed(applicationLinks)})`;
    const shown = await cardsOfPage(page, linked);
    const items = await query(sql).value<string>`with p as materialized (${embed(processes)}),
       used as (
         select l.application_id, json_agg(json_build_object('element_id', ${embed(elementId('shown.lineage_id'))}, 'element_name', e.name,
             'element_type', e.element_type, 'lane_name', e.lane_name, 'process_id', p.id, 'process_name', p.name)
             order by p.name_key, p.id, e.sequence_order) as elements
         from p ${embed(applicationLinks)} group by l.application_id),
       k as (
         select c.id, c.name, c.name_key, used.elements from used join cards c on c.id = used.application_id
         where ${embed(shown)})
       select ${embed(
         jsonLines(
           `json_build_object('application_id', k.id, 'application_name', k.name, 'elements', k.elements)`,
           'k.name_key, k.id',
         ),
       )} as items from k`;
    return `{"items":${items}}`;
  },
  chart: ({ items }, _params, context) => ({
    kind: 'bars',
    title: reportText(context, 'bpm.elements.title', typeNames(context, APPLICATION)),
    note: reportText(context, 'bpm.elements.note'),
    most: 60,
    itemAxis: typeLabel(context, APPLICATION),
    valueAxis: reportText(context, 'bpm.elements.axis'),
    unit: 'count',
    series: [reportText(context, 'bpm.elements')],
    items: items
      .map(({ application_name, elements }) => ({ name: application_name ?? '', values: [elements.length] }))
      .sort((a, b) => b.values[0]! - a.values[0]!),
  }),
  tables: ({ items }) => [
    reportTable(
      'elements',
      {
        application_id: 'key',
        application_name: 'text',
        process_id: 'key',
        process_name: 'text',
        element_id: 'key',
        element_name: 'text',
        element_type: 'key',
        lane_name: 'text',
      },
      items.flatMap(({ elements, ...application }) =>
        elements.map((element) => ({ ...application, ...element })),
      ),
    ),
  ],
});
