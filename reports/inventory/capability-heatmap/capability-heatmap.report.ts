import Type, { type Static } from 'typebox';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { SectionSchema } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { areaTiles } from '../../kernel/charts/charts.areas.ts';
import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart, ChartUnit } from '../../kernel/charts/charts.types.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { ID, IdNumbers } from '../../kernel/report.ids.ts';
import { type JsonValue, jsonRows } from '../../kernel/report.json-rows.ts';
import { runDuringRead } from '../../kernel/report.lines.ts';
import { type Lists, listsOf, numberedCards, pairsOfPaths, readEnds } from '../../kernel/report.links.ts';
import { type NumberedLines, numberedLines } from '../../kernel/report.numbered.ts';
import { typeOf } from '../../kernel/report.params.ts';
import {
  App,
  CardsByType,
  cardsByName,
  Named,
  readText,
  relatedCard,
  relationPathsFrom,
  TagGroups,
  tagGroupsOf,
} from '../../kernel/report.related.ts';
import { writeRelatedCards } from '../../kernel/report.related-cards.ts';
import { numberIn } from '../../kernel/report.sql.ts';
import { defineReport, type ReportInput, reportSchema } from '../../kernel/report.ts';
import { extractCosts, writeCapabilities } from './capability-heatmap.parts.ts';
import { relatedOf } from './capability-heatmap.related.ts';

const Result = reportSchema('CapabilityHeatmapReport', {
  items: arrayOf({
    ...Named,
    parent_id: Nullable(Uuid),
    app_count: Type.Integer(),
    total_cost: Type.Optional(Type.Number({ description: 'Absent without `costs.view`' })),
    risk_count: Type.Optional(Type.Integer({ description: 'Absent without `risks.view`' })),
    attributes: OpenObject,
    apps: arrayOf({ ...App, related_by_type: Type.Record(Type.String(), Type.Array(Uuid)) }),
  }),
  metric: Type.String(),
  filterable_types: CardsByType,
  fields_schema: Type.Array(SectionSchema),
  tag_groups: TagGroups,
});

type Result = Static<typeof Result>;

const CAPABILITY = 'BusinessCapability';
const APP = 'Application';

/** Expected bytes after the capabilities: per related card, and for the metamodel. */
const ROOM = { card: 120, rest: 64 * 1024 };

interface Params {
  metric: 'app_count' | 'total_cost' | 'risk_count';
}

const costsOf = (ctx: Ctx): string =>
  (ctx.metamodel.cardTypes.get(APP)?.costKeys ?? [])
    .map((key) => numberIn('c.attributes', key))
    .join(' + ') || '0';

/** Members of applications and of capabilities, to which members from other sources are appended. */
const members = {
  app: [
    { name: 'id', kind: 'id' },
    { name: 'name', kind: 'text' },
    { name: 'subtype', kind: 'text' },
    { name: 'attributes', kind: 'jsonb' },
    { name: 'lifecycle', kind: 'jsonb' },
  ],
  capability: [
    { name: 'id', kind: 'id' },
    { name: 'name', kind: 'text' },
    { name: 'parent_id', kind: 'id' },
    { name: 'attributes', kind: 'jsonb' },
  ],
} satisfies Record<string, JsonValue[]>;
const cost: JsonValue = { name: 'cost', head: '|', kind: 'json' };
/** Further members follow. */
const UNENDED = ',\n';
const writers = {
  app: jsonRows(members.app, UNENDED),
  appWithCost: jsonRows([...members.app, cost], UNENDED),
  capability: jsonRows(members.capability, UNENDED),
};

/**
 * Reads lines of the report's applications (and possibly others) without their related objects, with the costs after a `|`.
 */
function readApps({ ctx, lines, cards }: ReportInput<Params>): Promise<Buffer> {
  const costs = may(ctx.caller, 'costs.view');
  const attributes = `(${reportAttributes(ctx, [APP])})::jsonb`;
  return lines(
    fragment`select c.id, c.name, c.subtype, ${embed(attributes)}, c.lifecycle${embed(costs ? `, (${costsOf(ctx)})::text` : '')}
        from cards c where c.type = ${APP} and ${embed(cards)}
          and (c.id in (select e.card_id from (${embed(relatedPairs(ctx, APP, CAPABILITY))}) e)) is true`,
    costs ? writers.appWithCost : writers.app,
  );
}

/** The capabilities with the applications that support each. */
export const capabilityHeatmapReport = defineReport({
  name: 'capability-heatmap',
  id: 'readCapabilityHeatmapReport',
  summary: 'Read the business capabilities with the applications that support each',
  description:
    '`app_count` and `total_cost` (all cost fields of the applications; absent without `costs.view`) include the applications that are linked to the capability itself, not to its descendants. `risk_count` (absent without `risks.view`) is the number of distinct risks that are not closed and are linked to the capability or one of these applications. `filter` applies to the applications, not to the capabilities.',
  permission: 'reports.ea_dashboard',
  needs: ['relations.view'],
  permissionNote: 'costs.view for the metric total_cost; risks.view for the metric risk_count',
  types: [APP, CAPABILITY],
  params: {
    metric: Type.Enum(['app_count', 'total_cost', 'risk_count'], {
      default: 'app_count',
      description: 'The number in the chart; the other formats contain all',
    }),
  },
  result: Result,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: true },
  check(ctx, { metric }) {
    if (metric === 'total_cost') requirePermission(ctx.caller, 'costs.view');
    if (metric === 'risk_count') requirePermission(ctx.caller, 'risks.view');
  },
  topics: () => ['cards', 'relations', 'catalogues', 'risks'],
  async compute(input) {
    const { sql, ctx, params, lines, visible } = input;
    await sql.raw(`set local work_mem = '64MB'; set local parallel_setup_cost = 1000`);
    const ways = relationPathsFrom(ctx, APP);
    const seesCosts = may(ctx.caller, 'costs.view');
    // results are processed while the database executes the next statement
    // by name, without the members derived from applications
    const readOfCapabilities = await input.lines(
      fragment`select c.id, c.name, c.parent_id, (${embed(reportAttributes(input.ctx, [CAPABILITY]))})::jsonb
        from cards c where c.type = ${CAPABILITY} and ${embed(input.visible)} order by c.name_key, c.id`,
      writers.capability,
    );
    const [readOfApps, capabilities] = await runDuringRead(readApps(input), () =>
      numberedLines(readOfCapabilities),
    );
    const [ends, { apps, costs }] = await runDuringRead(readEnds(lines, ways, visible), () => {
      const numbered = numberedLines(readOfApps);
      return { apps: numbered, costs: seesCosts ? extractCosts(numbered) : undefined };
    });
    const risks = may(ctx.caller, 'risks.view') ? readRiskLinks(sql) : Promise.resolve(undefined);
    const [riskLinks, cards] = await runDuringRead(risks, () => numberedCards(ends));
    const named = [...ends.cards.keys()].filter((type) => ends.cards.get(type)!.length > 0);
    const isRelated = new Uint8Array(cards.numbers.count);
    const [readOfCards, body] = await runDuringRead(lines(cardsByName(named, visible), relatedCard), () => {
      const all = pairsOfPaths(ends, ways.get(CAPABILITY) ?? [], true);
      const supporting = listsOf(capabilities.numbers, apps.numbers, all);
      return writeCapabilities(
        {
          capabilities,
          apps,
          supporting,
          costs,
          risks: riskLinks && countRisks(riskLinks, capabilities, apps, supporting),
          related: relatedOf(apps, cards, ends, ways),
        },
        isRelated,
        cards.numbers.count * ROOM.card + ROOM.rest,
      );
    });
    body.text(`,"metric":${JSON.stringify(params.metric)}`);
    body.text(`,"fields_schema":${JSON.stringify(typeOf(ctx, 'type', APP).fields_schema)}`);
    body.text(`,"tag_groups":${await readText(sql, tagGroupsOf(APP))},"filterable_types":`);
    writeRelatedCards(body, readOfCards, cards.numbers, isRelated);
    body.text('}');
    return body;
  },
  tables: ({ items }) => [
    reportTable(
      'items',
      {
        id: 'key',
        name: 'text',
        parent_id: 'key',
        app_count: 'number',
        ...(items[0]?.total_cost === undefined ? {} : ({ total_cost: 'money' } as const)),
        ...(items[0]?.risk_count === undefined ? {} : ({ risk_count: 'number' } as const)),
      } as const,
      items,
    ),
    reportTable(
      'apps',
      { capability_id: 'key', capability_name: 'text', id: 'key', name: 'text', subtype: 'key' },
      items.flatMap(({ id, name, apps }) =>
        apps.map((app) => ({ ...app, capability_id: id, capability_name: name })),
      ),
    ),
  ],
  chart: ({ items }, { metric }, context) => capabilityHeatmapChart(items, metric, context),
});

const meanings: Record<Params['metric'], { name: string; unit: ChartUnit }> = {
  app_count: { name: 'Applications', unit: 'count' },
  total_cost: { name: 'Cost of applications', unit: 'currency' },
  risk_count: { name: 'Risks', unit: 'count' },
};

/** One tile per capability in the area of its root, shaded by the metric. */
function capabilityHeatmapChart(
  items: Result['items'],
  metric: Params['metric'],
  context: ChartContext,
): Chart {
  const { name, unit } = meanings[metric];
  return {
    ...areaTiles(items, (item) => item[metric] ?? 0),
    title: `${typeLabel(context, 'BusinessCapability')} by ${name.toLowerCase()}`,
    note: 'Each tile is a capability, in the area of its top-level capability',
    valueAxis: 'capabilities',
    shadeAxis: name,
    shadeUnit: unit,
  };
}

const PAIR = 2 * ID.bytes;

/** Reads the links of risks that are not closed, as binary pairs of card id and risk id. */
async function readRiskLinks(sql: Sql): Promise<Buffer> {
  const rows = await query(sql)
    .rows`select string_agg(uuid_send(k.card_id) || uuid_send(k.risk_id), ''::bytea order by k.card_id, k.risk_id) as pairs
     from risk_cards k join risks r on r.id = k.risk_id where r.status <> 'closed'`;
  return rows[0].pairs ?? Buffer.alloc(0);
}

/** Counts the distinct risks of each capability and its applications. */
function countRisks(
  pairs: Buffer,
  capabilities: NumberedLines,
  apps: NumberedLines,
  { starts, items }: Lists,
): Int32Array {
  const risks = new IdNumbers(pairs.length / PAIR);
  const owned = [{ pairs, owner: 0, other: ID.bytes }];
  const numbered = (bytes: Buffer, at: number) => risks.add(bytes, at);
  const ofCapabilities = listsOf(capabilities.numbers, risks, owned, numbered);
  const ofApps = listsOf(apps.numbers, risks, owned, numbered);
  const counts = new Int32Array(capabilities.numbers.count);
  // the last capability (from 1) that has counted each risk
  const seen = new Int32Array(risks.count);
  const count = (lists: Lists, owner: number, capability: number) => {
    for (let n = lists.starts[owner]!; n < lists.starts[owner + 1]!; n += 1) {
      const risk = lists.items[n]!;
      if (seen[risk] === capability + 1) continue;
      seen[risk] = capability + 1;
      counts[capability]! += 1;
    }
  };
  for (let capability = 0; capability < counts.length; capability += 1) {
    count(ofCapabilities, capability, capability);
    for (let n = starts[capability]!; n < starts[capability + 1]!; n += 1)
      count(ofApps, items[n]!, capability);
  }
  return counts;
}
