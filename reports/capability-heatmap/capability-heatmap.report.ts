import Type from 'typebox';
import { may, requirePermission } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import { reportAttributes } from '../report.cards.ts';
import { relatedPairs } from '../report.ends.ts';
import { column } from '../report.formats.ts';
import { typeOf } from '../report.params.ts';
import { relatedByType, relatedTable, tagGroupsOf, taggedTable } from '../report.related.ts';
import { jsonLines, type Lifecycle, numberIn } from '../report.sql.ts';
import { defineReport } from '../report.ts';
import { capabilityHeatmapChart } from './capability-heatmap.chart.ts';

const CAPABILITY = 'BusinessCapability';
const APP = 'Application';

interface Params {
  metric: 'app_count' | 'total_cost' | 'risk_count';
}

interface Answer {
  items: {
    id: string;
    name: string;
    parent_id: string | null;
    app_count: number;
    total_cost?: number;
    risk_count: number;
    apps: { id: string; name: string; subtype: string | null; lifecycle: Lifecycle }[];
  }[];
  metric: Params['metric'];
}

const costsOf = (ctx: Ctx): string =>
  (ctx.metamodel.cardTypes.get(APP)?.costKeys ?? [])
    .map((key) => numberIn('c.attributes', key))
    .join(' + ') || '0';

/** The capabilities with the applications that support each. */
export const capabilityHeatmapReport = defineReport<Params, Answer>({
  name: 'capability-heatmap',
  id: 'readCapabilityHeatmapReport',
  summary: 'Read the business capabilities with the applications that support each',
  description:
    '`app_count`, `total_cost` (all cost fields of the applications; left out without `costs.view`) and `risk_count` (0 for as long as no risks are kept) are of the applications that are linked to the capability itself, not to those below it. `filter` narrows the applications, not the capabilities.',
  permission: 'reports.ea_dashboard',
  permissionNote: 'and relations.view; costs.view for the metric total_cost',
  params: {
    metric: Type.Enum(['app_count', 'total_cost', 'risk_count'], {
      default: 'app_count',
      description: 'Which number the picture shows; the answer holds all',
    }),
  },
  timeTravel: true,
  check(ctx, { metric }) {
    typeOf(ctx, 'type', APP);
    typeOf(ctx, 'type', CAPABILITY);
    requirePermission(ctx.caller, 'relations.view');
    if (metric === 'total_cost') requirePermission(ctx.caller, 'costs.view');
  },
  dependsOn: (topic) => /^(cards:|relations:|metamodel$|catalogues$)/.test(topic),
  variant: (ctx) => String(may(ctx.caller, 'costs.view')),
  async compute({ sql, ctx, params, cards, visible }) {
    const pairs = relatedPairs(ctx, CAPABILITY, APP);
    const related = relatedTable(ctx, APP, visible);
    const costs = may(ctx.caller, 'costs.view');
    const entry = `json_build_object('id', c.id, 'name', c.name, 'subtype', c.subtype,
      'attributes', ${reportAttributes(ctx, [APP])}, 'lifecycle', c.lifecycle,
      'org_ids', coalesce(l.by_type -> 'Organization', '[]'), 'related_by_type', coalesce(l.by_type, '{}'),
      'tag_ids', coalesce(t.tag_ids, '[]'))::text`;
    const item = `json_build_object('id', c.id, 'name', c.name, 'parent_id', c.parent_id,
      'app_count', coalesce(f.count, 0), ${costs ? "'total_cost', coalesce(f.cost, 0)," : ''} 'risk_count', 0,
      'attributes', ${reportAttributes(ctx, [CAPABILITY])}, 'apps', coalesce(f.apps, '[]')::json)`;
    const { rows } = await sql.raw(
      `with pair as materialized (
         select distinct e.card_id, e.other_id from (${pairs.sql}) e
         join cards c on c.id = e.card_id and ${visible.sql}
       ), app as materialized (
         select c.id from cards c
         where c.type = ? and ${cards.sql} and c.id in (select other_id from pair)
       ), ${related.sql}, linked as (
         select card_id, jsonb_object_agg(other_type, ids) as by_type
         from (select card_id, other_type, jsonb_agg(distinct other_id) as ids
               from related join app on app.id = related.card_id group by card_id, other_type) kinds
         group by card_id
       ), ${taggedTable}, entries as materialized (
         select c.id, ${costsOf(ctx)} as cost, ${entry} as entry
         from app join cards c on c.id = app.id
         left join linked l on l.card_id = c.id left join tagged t on t.card_id = c.id
       ), filled as (
         select p.card_id, count(*) as count, sum(e.cost) as cost, ${jsonLines('e.entry', 'e.id')} as apps
         from pair p join entries e on e.id = p.other_id group by p.card_id
       )
       select '{"items":' || (select ${jsonLines(item, 'c.name_key, c.id')}
            from cards c left join filled f on f.card_id = c.id where c.type = ? and ${visible.sql})
         || ',"metric":' || to_json(?::text)
         || ',"filterable_types":' || ${relatedByType}
         || ',"fields_schema":' || ?::text
         || ',"tag_groups":' || ${tagGroupsOf('?::text')} || '}' as answer`,
      [
        ...pairs.bindings,
        ...visible.bindings,
        APP,
        ...cards.bindings,
        ...related.bindings,
        CAPABILITY,
        ...visible.bindings,
        params.metric,
        JSON.stringify(typeOf(ctx, 'type', APP).fields_schema),
        APP,
      ] as never,
    );
    return rows[0].answer;
  },
  tables: ({ items }) => [
    {
      name: 'items',
      columns: [
        column('id', 'key'),
        column('name'),
        column('parent_id', 'key'),
        column('app_count', 'number'),
        ...(items[0]?.total_cost === undefined ? [] : [column('total_cost', 'number')]),
        column('risk_count', 'number'),
      ],
      rows: items.map((item) => [
        item.id,
        item.name,
        item.parent_id,
        item.app_count,
        ...(item.total_cost === undefined ? [] : [item.total_cost]),
        item.risk_count,
      ]),
    },
    {
      name: 'apps',
      columns: [
        column('capability_id', 'key'),
        column('capability_name'),
        column('id', 'key'),
        column('name'),
        column('subtype', 'key'),
      ],
      rows: items.flatMap((item) =>
        item.apps.map((app) => [item.id, item.name, app.id, app.name, app.subtype]),
      ),
    },
  ],
  chart: ({ items, metric }, _params, context) => capabilityHeatmapChart(items, metric, context),
});
