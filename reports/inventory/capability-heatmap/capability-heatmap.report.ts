import Type, { type Static } from 'typebox';
import { SectionSchema } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { arrayOf, Nullable, OpenObject, OptionalText, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import {
  type ChartContext,
  decapitalised,
  fieldLabel,
  NO_VALUE,
  optionLegend,
  typeLabel,
  WELL_FILLED,
  worstOption,
} from '../../kernel/charts/charts.labels.ts';
import { counted, formatCount } from '../../kernel/charts/charts.numbers.ts';
import type { Box, Chart, ChartUnit, Paint } from '../../kernel/charts/charts.types.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { ID } from '../../kernel/report.ids.ts';
import { eachLine } from '../../kernel/report.lines.ts';
import { rowsByGroup } from '../../kernel/report.nested.ts';
import { ID_FROM } from '../../kernel/report.numbered.ts';
import { checkOptionField, typeOf } from '../../kernel/report.params.ts';
import { App, CardsByType, Named, readText, TagGroups, tagGroupsOf } from '../../kernel/report.related.ts';
import { MAX_ROWS } from '../../kernel/report.rows.ts';
import { rollUpParam } from '../../kernel/report.scope.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';
import {
  APP,
  appRows,
  CAPABILITY,
  capabilityLines,
  linkedApps,
  relatedCards,
} from './capability-heatmap.sql.ts';

const Result = pagedReportSchema('CapabilityHeatmapReport', {
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
  capability_count: Type.Integer(),
  filterable_types: CardsByType,
  fields_schema: Type.Array(SectionSchema),
  tag_groups: TagGroups,
});

type Result = Static<typeof Result>;

interface Params {
  roll_up: boolean;
  metric: 'app_count' | 'total_cost' | 'risk_count';
  color_field?: string;
}

/** The capabilities with the applications that support each. */
export const capabilityHeatmapReport = defineReport({
  name: 'capability-heatmap',
  id: 'readCapabilityHeatmapReport',
  summary: 'Read the business capabilities with the applications that support each',
  description:
    '`app_count` and `total_cost` (all cost fields of the applications; absent without `costs.view`) include the applications that are linked to the capability itself, with `roll_up` also those of its descendants. `risk_count` (absent without `risks.view`) is the number of distinct risks that are not closed and are linked to the capability or one of these applications. `filter` applies to the applications, not to the capabilities. Each application of a capability is a row; the figures are complete in each response. `filterable_types` has the cards that are related to the applications of the response.',
  permission: 'reports.ea_dashboard',
  needs: ['relations.view'],
  permissionNote: 'costs.view for the metric total_cost; risks.view for the metric risk_count',
  types: [APP, CAPABILITY],
  params: {
    metric: Type.Enum(['app_count', 'total_cost', 'risk_count'], {
      default: 'app_count',
      description: 'The number in the chart; the other formats contain all',
    }),
    color_field: OptionalText(
      100,
      'Select field of applications that colours the picture of the metric app_count; default: the best-filled one of technical and functional suitability and criticality, if 30 % of the applications have a value',
    ),
    roll_up: rollUpParam,
  },
  result: Result,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: true },
  check(ctx, { metric, color_field }) {
    checkOptionField(ctx, 'color_field', typeOf(ctx, 'color_field', APP), color_field);
    if (metric === 'total_cost') requirePermission(ctx.caller, 'costs.view');
    if (metric === 'risk_count') requirePermission(ctx.caller, 'risks.view');
  },
  topics: () => ['cards', 'relations', 'catalogues', 'risks'],
  isPaged: true,
  omitsGroups: true,
  async compute(input) {
    const { sql, ctx, params, range } = input;
    await sql.raw(`set local work_mem = '64MB'`);
    // a row is an application that supports a capability
    const apps = rowsByGroup(await input.rows(appRows(input)));
    const capabilities = fragment`c.type = ${CAPABILITY} and ${embed(input.visible)}`;
    const count: number = Number(
      await query(sql).value`select count(*) from cards c where ${embed(capabilities)}`,
    );
    const only = range && count > MAX_ROWS ? [...apps.keys()] : undefined;
    const lines = await input.lines(capabilityLines(input, params.roll_up, only));
    const pieces: (string | Buffer)[] = ['{"items":[\n'];
    eachLine(lines, (from, to) => {
      const id = lines.toString('latin1', from + ID_FROM, from + ID_FROM + ID.text);
      pieces.push(
        pieces.length === 1 ? '' : ',\n',
        lines.subarray(from, to),
        ',"apps":[',
        ...(apps.get(id) ?? []),
        ']}',
      );
    });
    const ids = range
      ? fragment`select unnest(${appIds(apps)}::uuid[])`
      : fragment`select app_id from linked`;
    const related = await readText(sql, relatedCards(input, range ? fragment`` : linkedApps(input), ids));
    pieces.push(
      `\n],"metric":${JSON.stringify(params.metric)},"capability_count":${count}`,
      `,"fields_schema":${JSON.stringify(typeOf(ctx, 'type', APP).fields_schema)}`,
      `,"tag_groups":${await readText(sql, tagGroupsOf(APP))},"filterable_types":${related}}`,
    );
    return pieces;
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
  chart: ({ items }, params, context) => capabilityHeatmapChart(items, params, context),
});

const meanings: Record<Params['metric'], { name: string; unit: ChartUnit }> = {
  app_count: { name: 'Applications', unit: 'count' },
  total_cost: { name: 'Cost of applications', unit: 'currency' },
  risk_count: { name: 'Risks', unit: 'count' },
};

const MEMBER: [string, string] = ['application', 'applications'];

/** One box per capability in that of its parent: by the metric, or by the worst fit of its applications. */
function capabilityHeatmapChart(
  items: Result['items'],
  { metric, color_field: asked, roll_up: rolledUp }: Params,
  context: ChartContext,
): Chart {
  const { name, unit } = meanings[metric];
  const apps = new Map(items.flatMap((item) => item.apps.map((app) => [app.id, app])));
  const note = `${counted(items.length, 'capability', 'capabilities')}, supported by ${counted(apps.size, ...MEMBER)}`;
  const colour = metric === 'app_count' ? colourField([...apps.values()], asked) : undefined;
  const capabilities = typeLabel(context, CAPABILITY);
  if (colour === undefined) {
    const shares = shareOf(metric, context);
    return {
      kind: 'boxes',
      title: `${capabilities} by ${decapitalised(name)}`,
      note,
      boxes: items.map((item): Box => ({ ...boxOf(item, shares), value: item[metric] ?? 0 })),
      member: MEMBER,
      scale: { name, unit },
      rolledUp,
      gaps: true,
    };
  }
  const legend = [
    ...optionLegend(context, APP, colour.key),
    { key: '', name: NO_VALUE, paint: 'others' as const },
  ];
  const paints = new Map<string, Paint>(legend.map(({ key, paint }) => [key, paint]));
  const paintOf = (value: unknown): Paint => paints.get(typeof value === 'string' ? value : '') ?? 'others';
  // the worst ones first, since they decide
  const worst = worstOption(
    context,
    APP,
    colour.key,
    legend.map(({ key }) => key),
  );
  const direction = worst === legend[0]!.key ? -1 : 1;
  const rank = (value: unknown) => direction * legend.findIndex(({ key }) => key === value);
  const label = fieldLabel(context, APP, colour.key);
  return {
    kind: 'boxes',
    title: `${capabilities} by ${decapitalised(label)}`,
    note: `${note}; the worst one counts (${label} is filled for ${formatCount(colour.filled)} of ${formatCount(apps.size)})`,
    boxes: items.map((item): Box => {
      const values = item.apps.map(({ attributes }) => attributes[colour.key]);
      const members = item.apps
        .toSorted((a, b) => rank(b.attributes[colour.key]) - rank(a.attributes[colour.key]))
        .map((app) => ({ id: app.id, name: app.name, paint: paintOf(app.attributes[colour.key]) }));
      if (item.apps.length === 0) return { ...boxOf(item), items: [] };
      return {
        ...boxOf(item),
        items: members,
        paint: paintOf(worstOption(context, APP, colour.key, values)),
      };
    }),
    member: MEMBER,
    legend,
    gaps: true,
  };
}

/** The ids of the applications in the pieces of rows. */
const appIds = (rows: ReadonlyMap<string, (string | Buffer)[]>): string[] => [
  ...new Set(
    [...rows.values()]
      .flat()
      .filter((piece) => typeof piece !== 'string')
      .map((piece) => piece.toString('latin1', ID_MEMBER.length, ID_MEMBER.length + ID.text)),
  ),
];
/** The beginning of a row's pieces. */
const ID_MEMBER = '"id":"';

type SupportingApp = Result['items'][number]['apps'][number];

const boxOf = (
  { id, name, parent_id, apps }: Result['items'][number],
  shareOf?: (app: SupportingApp) => number,
): Box => ({
  id,
  name,
  parent_id,
  items: apps.map((app) => ({
    id: app.id,
    name: app.name,
    ...(shareOf && { value: shareOf(app) }),
  })),
});

/** What an application adds to the metric of a capability, if that is the sum over its applications. */
function shareOf(
  metric: Params['metric'],
  { metamodel }: ChartContext,
): ((app: SupportingApp) => number) | undefined {
  if (metric === 'app_count') return () => 1;
  if (metric === 'risk_count') return undefined;
  const costs = [...(metamodel.cardTypes.get(APP)?.fields ?? [])].filter(([, { type }]) => type === 'cost');
  return ({ attributes }) => costs.reduce((sum, [key]) => sum + (Number(attributes[key]) || 0), 0);
}

/** Fields by which applications are judged; the one that is filled most often colours the boxes. */
const FIT_FIELDS = ['technicalSuitability', 'functionalSuitability', 'businessCriticality'];

/** The requested field, else the one that most applications have, if enough have one. */
function colourField(
  cards: readonly { attributes: Record<string, unknown> }[],
  asked: string | undefined,
): { key: string; filled: number } | undefined {
  const known = (asked === undefined ? FIT_FIELDS : [asked]).map((key) => ({
    key,
    filled: cards.filter(({ attributes }) => typeof attributes[key] === 'string').length,
  }));
  const best = known.reduce((most, one) => (most.filled >= one.filled ? most : one));
  return asked !== undefined || best.filled > cards.length * WELL_FILLED ? best : undefined;
}
