import Type from 'typebox';
import { may, requirePermission } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Fragment } from '../../domain/lists/lists.types.ts';
import { reportAttributes } from '../report.cards.ts';
import { distinctPairs, relatedPairs } from '../report.ends.ts';
import { column } from '../report.formats.ts';
import { itemsById, meanwhile } from '../report.lines.ts';
import { typeOf } from '../report.params.ts';
import { cardsOfTypes, linkedIds, readText, tagGroupsOf, tagIds } from '../report.related.ts';
import { jsonText, type Lifecycle, numberIn } from '../report.sql.ts';
import { defineReport, type ReportInput } from '../report.ts';
import { capabilityHeatmapChart } from './capability-heatmap.chart.ts';
import { APPS, capabilitiesWith, pickedByType, RELATED, relatedOf } from './capability-heatmap.parts.ts';

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

/** The applications of the report that are linked to a visible capability, over the alias `c`. */
function appsOf({ ctx, cards, visible }: ReportInput<Params>): Fragment {
  const pairs = relatedPairs(ctx, CAPABILITY, APP);
  return {
    sql: `c.type = ? and ${cards.sql} and (c.id in (
      select e.other_id from (${pairs.sql}) e
      where (e.card_id in (select c.id from cards c where c.type = ? and ${visible.sql})) is true)) is true`,
    bindings: [APP, ...cards.bindings, ...pairs.bindings, CAPABILITY, ...visible.bindings],
  };
}

/** The applications as they stand under each of their capabilities. */
function readApps(input: ReportInput<Params>): Promise<Buffer> {
  const { ctx, lines, visible } = input;
  const apps = appsOf(input);
  const linked = linkedIds(ctx, APP, visible);
  const entry = jsonText(
    {
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      subtype: { text: 'c.subtype' },
      attributes: { json: reportAttributes(ctx, [APP]) },
      lifecycle: { json: 'c.lifecycle' },
    },
    '',
  );
  return lines({
    sql: `select i.entry || ',"org_ids":' || coalesce(l.org_ids, '[]') || ',${RELATED}' || coalesce(l.by_type, '{}')
        || ',"tag_ids":[' || coalesce(t.tag_ids, '') || ']},'
      from (select c.id, ${entry} as entry from cards c where ${apps.sql} offset 0) i
      left join (${linked.sql}) l on l.card_id = i.id left join (${tagIds}) t on t.card_id = i.id`,
    bindings: [...apps.bindings, ...linked.bindings],
  });
}

/** The capabilities by name, each with the ids of its applications. */
function readCapabilities({ ctx, lines, cards, visible }: ReportInput<Params>): Promise<Buffer> {
  const pairs = distinctPairs(ctx, CAPABILITY, APP);
  const head = jsonText(
    {
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      parent_id: { json: `'"' || c.parent_id || '"'` },
      app_count: { json: 'coalesce(f.count, 0)' },
      ...(may(ctx.caller, 'costs.view') ? { total_cost: { json: 'coalesce(f.cost, 0)' } } : {}),
      risk_count: { json: '0' },
      attributes: { json: reportAttributes(ctx, [CAPABILITY]) },
    },
    APPS,
  );
  return lines({
    sql: `select ${head} || coalesce(f.apps, '') || '},' from cards c left join (
       select p.card_id, count(*) as count, sum(a.cost) as cost, string_agg(p.other_id::text, '' order by p.other_id) as apps
       from (${pairs.sql}) p
       join (select c.id, ${costsOf(ctx)} as cost from cards c where c.type = ? and ${cards.sql} offset 0) a on a.id = p.other_id
       group by p.card_id) f on f.card_id = c.id
     where c.type = ? and ${visible.sql} order by c.name_key, c.id`,
    bindings: [...pairs.bindings, APP, ...cards.bindings, CAPABILITY, ...visible.bindings],
  });
}

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
  async compute(input) {
    const { sql, ctx, params } = input;
    await sql.raw(`set local work_mem = '64MB'; set local parallel_setup_cost = 1000`);
    const read = await readApps(input);
    // what was read is taken apart while the database makes the next
    const [capabilities, { apps, related }] = await meanwhile(readCapabilities(input), () => {
      const apps = itemsById(read);
      return { apps, related: relatedOf(apps.values()) };
    });
    const [cards, items] = await meanwhile(input.lines(cardsOfTypes([...related.types], input.visible)), () =>
      capabilitiesWith(apps, capabilities),
    );
    const rest = [
      `"metric":${JSON.stringify(params.metric)}`,
      `"fields_schema":${JSON.stringify(typeOf(ctx, 'type', APP).fields_schema)}`,
      `"tag_groups":${await readText(sql, tagGroupsOf(APP))}`,
      '"filterable_types":',
    ];
    return ['{"items":[\n', ...items, `\n],${rest.join()}`, ...pickedByType(cards, related.ids), '}'];
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
