import Type from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { arrayOf, Count, Nullable, OpenObject, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { BPM_TOPIC, PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { phaseLegend, phasePaint, typeLabel, typeNames } from '../../kernel/charts/charts.labels.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { cardsOfPage } from '../../kernel/report.rows.ts';
import { jsonLines, numberIn } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';
import { ofProcesses, relatedTo, shownDiagram } from './bpm.shared.ts';

const Name = Type.String();
const Subtype = Nullable(Type.String());
const card = { id: Uuid, name: Name, subtype: Subtype, parent_id: Nullable(Uuid) };
const Line = object({ id: Uuid, name: Name });

const Result = pagedReportSchema('ProcessMap', {
  items: arrayOf({
    ...card,
    attributes: OpenObject,
    lifecycle: Nullable(CardLifecycle),
    app_count: Count,
    total_cost: Type.Optional(Type.Number({ description: 'Absent without `costs.view`' })),
    apps: arrayOf({
      id: Uuid,
      name: Name,
      subtype: Subtype,
      attributes: OpenObject,
      lifecycle: Nullable(CardLifecycle),
      rel_attributes: OpenObject,
    }),
    data_objects: Type.Array(Line),
    org_ids: Type.Array(Uuid),
    ctx_ids: Type.Array(Uuid),
    has_diagram: Type.Boolean(),
    element_count: Count,
  }),
  organizations: Type.Array(Line),
  business_contexts: Type.Array(Line),
});

const others = ['Application', 'DataObject', 'Organization', 'BusinessContext'] as const;

/** All processes with their applications and organisations. */
export const processMapReport = defineReport({
  ...ofProcesses,
  name: 'bpm-process-map',
  id: 'readProcessMap',
  summary: 'Read all processes with their applications and organisations',
  description:
    '`total_cost` is the sum of all cost fields of the applications, absent without `costs.view`. `filter` applies to the processes.',
  needs: ['relations.view', 'bpm.view'],
  permissionNote: 'costs.view for costs',
  result: Result,
  isCurrentOnly: true,
  topics: () => [BPM_TOPIC, 'relations', ...[PROCESS, ...others].map((type) => `cards:${type}`)],
  isPaged: true,
  async compute({ sql, ctx, cards, visible, ...page }) {
    const shown = await cardsOfPage(page, fragment`c.type = ${PROCESS} and ${embed(cards)}`);
    const costs = may(ctx.caller, 'costs.view');
    const cost = (ctx.metamodel.cardTypes.get('Application')?.costKeys ?? [])
      .map((key) => numberIn('c.attributes', key))
      .join(' + ');
    const [apps, data, orgs, contexts] = others.map((type) => relatedTo(ctx, type));
    const ids = (name: string, pairs: Fragment) =>
      fragment`${embed(name)} as (select b.process_id, json_agg(b.other_id order by b.other_id) as ids from (${embed(pairs)}) b
         join p on p.id = b.process_id join cards c on c.id = b.other_id where ${embed(visible)} group by b.process_id)`;
    const named = (type: string) =>
      fragment`(select ${embed(jsonLines(`json_build_object('id', c.id, 'name', c.name)`, 'c.name_key, c.id'))}
        from cards c where c.type = ${type} and ${embed(visible)})`;
    return await query(sql).value`with p as materialized (
         select c.id, c.name, c.name_key, c.subtype, c.parent_id, c.lifecycle,
           ${embed(reportAttributes(ctx, [PROCESS]))} as attributes
         from cards c where ${embed(shown)}),
       apps as (
         select b.process_id, count(*) as n, ${embed(costs && cost ? `sum(${cost})` : '0')} as cost,
           json_agg(json_build_object('id', c.id, 'name', c.name, 'subtype', c.subtype,
             'attributes', ${embed(reportAttributes(ctx, ['Application']))}, 'lifecycle', c.lifecycle,
             'rel_attributes', b.attributes) order by c.name_key, c.id) as items
         from (${embed(apps!)}) b join p on p.id = b.process_id join cards c on c.id = b.other_id where ${embed(visible)} group by b.process_id),
       data as (
         select b.process_id, json_agg(json_build_object('id', c.id, 'name', c.name) order by c.name_key, c.id) as items
         from (${embed(data!)}) b join p on p.id = b.process_id join cards c on c.id = b.other_id where ${embed(visible)} group by b.process_id),
       ${embed(ids('orgs', orgs!))}, ${embed(ids('contexts', contexts!))},
       drawn as (
         select p.id as process_id, (select count(*) from process_content_elements e where e.content_id = shown.content_id) as n
         from p ${embed(shownDiagram)})
       select '{"items":' || (select ${embed(
         jsonLines(
           `json_build_object('id', p.id, 'name', p.name, 'subtype', p.subtype, 'parent_id', p.parent_id,
            'attributes', p.attributes, 'lifecycle', p.lifecycle, 'app_count', coalesce(apps.n, 0),
            ${costs ? `'total_cost', coalesce(apps.cost, 0),` : ''}
            'apps', coalesce(apps.items, '[]'), 'data_objects', coalesce(data.items, '[]'),
            'org_ids', coalesce(orgs.ids, '[]'), 'ctx_ids', coalesce(contexts.ids, '[]'),
            'has_diagram', drawn.process_id is not null, 'element_count', coalesce(drawn.n, 0))`,
           'p.name_key, p.id',
         ),
       )} from p left join apps on apps.process_id = p.id left join data on data.process_id = p.id
         left join orgs on orgs.process_id = p.id left join contexts on contexts.process_id = p.id
         left join drawn on drawn.process_id = p.id)
       || ',"organizations":' || ${embed(named('Organization'))} || ',"business_contexts":' || ${embed(named('BusinessContext'))}
       || '}' as result`;
  },
  chart: ({ items }, _params, context) => ({
    kind: 'boxes',
    title: reportText(context, 'bpm.map', typeNames(context, PROCESS)),
    note: reportText(context, 'bpm.map.note', { count: items.length }),
    itemAxis: typeLabel(context, PROCESS),
    boxes: items.map(({ id, name, parent_id, apps }) => ({
      id,
      name,
      parent_id,
      items: apps.map((app) => ({
        id: app.id,
        name: app.name,
        paint: phasePaint(app.lifecycle, context),
      })),
    })),
    member: [reportText(context, 'member.application'), reportText(context, 'member.applications')],
    legend: phaseLegend(context),
    legendAxis: reportText(context, 'axis.phase'),
    gaps: true,
  }),
  tables: ({ items }) => [
    reportTable(
      'items',
      {
        id: 'key',
        name: 'text',
        subtype: 'key',
        parent_id: 'key',
        app_count: 'number',
        ...(items[0]?.total_cost === undefined ? {} : ({ total_cost: 'money' } as const)),
        has_diagram: 'boolean',
        element_count: 'number',
      } as const,
      items,
    ),
    reportTable(
      'apps',
      { process_id: 'key', process_name: 'text', id: 'key', name: 'text', subtype: 'key' },
      items.flatMap(({ id, name, apps }) =>
        apps.map((app) => ({ ...app, process_id: id, process_name: name })),
      ),
    ),
  ],
});
