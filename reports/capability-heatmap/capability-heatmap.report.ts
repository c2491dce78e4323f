import Type from 'typebox';
import { may, requirePermission } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import type { Fragment } from '../../domain/lists/lists.types.ts';
import { reportAttributes } from '../report.cards.ts';
import { relatedPairs } from '../report.ends.ts';
import { column } from '../report.formats.ts';
import { itemsById } from '../report.lines.ts';
import { typeOf } from '../report.params.ts';
import { cardsOfTypes, linkedIds, readText, tagGroupsOf, tagIds } from '../report.related.ts';
import { jsonText, type Lifecycle, numberIn } from '../report.sql.ts';
import { defineReport, type ReportInput } from '../report.ts';
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

/** The applications as they stand under each of their capabilities, by id. */
async function readApps(input: ReportInput<Params>): Promise<Map<string, Buffer>> {
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
  const read = await lines({
    sql: `select i.entry || ',"org_ids":' || coalesce(l.org_ids, '[]') || ',"related_by_type":' || coalesce(l.by_type, '{}')
        || ',"tag_ids":[' || coalesce(t.tag_ids, '') || ']},'
      from (select c.id, ${entry} as entry from cards c where ${apps.sql} offset 0) i
      left join (${linked.sql}) l on l.card_id = i.id left join (${tagIds}) t on t.card_id = i.id`,
    bindings: [...apps.bindings, ...linked.bindings],
  });
  return itemsById(read);
}

/** What stands around the ids of related cards in an application's JSON; behind it there are ids alone. */
const RELATED = { from: '"related_by_type":{', to: '},"tag_ids":[' };

/** What the applications are related to: the ids, and their types. */
function relatedOf(apps: Iterable<Buffer>): { ids: Set<string>; types: Set<string> } {
  const ids = new Set<string>();
  const types = new Set<string>();
  for (const app of apps) {
    const from = app.lastIndexOf(RELATED.from) + RELATED.from.length;
    // "type":["id","id"],"type":["id"]: a colon follows a type, and each second part stands between quotes
    const parts = app.toString('latin1', from, app.lastIndexOf(RELATED.to)).split('"');
    for (let at = 1; at < parts.length; at += 2) (parts[at + 1]![0] === ':' ? types : ids).add(parts[at]!);
  }
  return { ids, types };
}

const TYPE = '"type":"';

/**
 * The cards that the applications are related to, by type. Their ids are known from the applications: asking for them
 * once more would take a third of the whole time.
 */
async function readFilterable(
  { lines, visible }: ReportInput<Params>,
  apps: ReadonlyMap<string, Buffer>,
): Promise<string> {
  const { ids, types } = relatedOf(apps.values());
  const cards = itemsById(await lines(cardsOfTypes([...types], visible)));
  const found = new Map<string, string[]>();
  for (const [id, card] of cards) {
    if (!ids.has(id)) continue;
    const type = card.toString('latin1', card.lastIndexOf(TYPE) + TYPE.length, card.length - 2);
    const items = found.get(type);
    if (items) items.push(card.toString());
    else found.set(type, [card.toString()]);
  }
  return `{${[...found].map(([type, items]) => `"${type}":[${items.join(',')}]`).join(',')}}`;
}

/** A capability's JSON as far as its applications, and their ids. */
interface Head {
  head: string;
  apps: string[] | null;
}

async function readCapabilities(input: ReportInput<Params>): Promise<Head[]> {
  const { sql, ctx, cards, visible } = input;
  const pairs = relatedPairs(ctx, CAPABILITY, APP);
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
    ',"apps":[',
  );
  const { rows } = await sql.raw(
    `select ${head} as head, f.apps from cards c left join (
       select p.card_id, count(*) as count, sum(a.cost) as cost, array_agg(p.other_id::text order by p.other_id) as apps
       from (select distinct e.card_id, e.other_id from (${pairs.sql}) e) p
       join (select c.id, ${costsOf(ctx)} as cost from cards c where c.type = ? and ${cards.sql} offset 0) a on a.id = p.other_id
       group by p.card_id) f on f.card_id = c.id
     where c.type = ? and ${visible.sql} order by c.name_key, c.id`,
    [...pairs.bindings, APP, ...cards.bindings, CAPABILITY, ...visible.bindings] as never,
  );
  return rows;
}

/** The capabilities on a line each. An application stands under many, so its text is made and sent once, and put in here. */
function capabilitiesWith(apps: ReadonlyMap<string, Buffer>, capabilities: Head[]): Buffer {
  const comma = Buffer.from(',');
  const pieces: Buffer[] = [];
  for (const [n, { head, apps: ids }] of capabilities.entries()) {
    pieces.push(Buffer.from(n === 0 ? head : `]},\n${head}`));
    for (const [at, id] of (ids ?? []).entries()) {
      if (at > 0) pieces.push(comma);
      pieces.push(apps.get(id)!);
    }
  }
  if (pieces.length > 0) pieces.push(Buffer.from(']}'));
  return Buffer.concat(pieces);
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
    const apps = await readApps(input);
    const items = capabilitiesWith(apps, await readCapabilities(input));
    const rest = {
      metric: JSON.stringify(params.metric),
      filterable_types: await readFilterable(input, apps),
      fields_schema: JSON.stringify(typeOf(ctx, 'type', APP).fields_schema),
      tag_groups: await readText(sql, tagGroupsOf(APP)),
    };
    const members = Object.entries(rest).map(([name, json]) => `,"${name}":${json}`);
    return ['{"items":[\n', items, `\n]${members.join('')}}`];
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
