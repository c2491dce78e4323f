import Type from 'typebox';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { OptionalText } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { ID } from '../../kernel/report.ids.ts';
import { eachLine } from '../../kernel/report.lines.ts';
import { rowsByGroup } from '../../kernel/report.nested.ts';
import { ID_FROM } from '../../kernel/report.numbered.ts';
import { checkOptionField, optionFields, typeOf } from '../../kernel/report.params.ts';
import { readText, tagGroupsOf } from '../../kernel/report.related.ts';
import { MAX_ROWS } from '../../kernel/report.rows.ts';
import { rollUpParam } from '../../kernel/report.scope.ts';
import { defineReport } from '../../kernel/report.ts';
import { capabilityHeatmapChart } from './capability-heatmap.chart.ts';
import { CapabilityHeatmap } from './capability-heatmap.model.ts';
import {
  APP,
  appRows,
  CAPABILITY,
  capabilityLines,
  linkedApps,
  relatedCards,
} from './capability-heatmap.sql.ts';

/** The capabilities with the applications that support each. */
export const capabilityHeatmapReport = defineReport({
  name: 'capability-heatmap',
  id: 'readCapabilityHeatmapReport',
  summary: 'Read the business capabilities with the applications that support each',
  description:
    '`app_count` and `total_cost` (all cost fields of the applications; absent without `costs.view`) include the applications that are linked to the capability itself, with `roll_up` also those of its descendants. `risk_count` (absent without `risks.view`) is the number of distinct risks that are not closed and are linked to the capability or one of these applications. `filter` applies to the applications, not to the capabilities. Each application of a capability is a row; the figures are complete in each response. `filterable_types` has the cards that are related to the applications of the response.',
  permission: 'reports.ea_dashboard',
  needs: ['relations.view'],
  permissionNote:
    'costs.view for the metric total_cost and the rule mean; risks.view for the metric risk_count',
  types: [APP, CAPABILITY],
  params: {
    metric: Type.Enum(['app_count', 'total_cost', 'risk_count'], {
      default: 'app_count',
      description: 'The number in the chart; the other formats contain all',
    }),
    color_field: OptionalText(
      100,
      'Select field of applications that colours the picture, and of which capabilities have `options`, `worst`, `share` and `mean`; default for pictures of the metric app_count: the first one of technical and functional suitability and criticality of which 30 % of the applications have a value',
      optionFields(APP),
    ),
    rule: Type.Optional(
      Type.Enum(['worst', 'mean', 'sum', 'share'], {
        description:
          'How the applications of a capability determine its colour in the picture: by the worst option of `color_field` (by the colours of its options: the most critical one of the criticality), the mean of its options weighted by cost, the percentage of applications with an option of the worse half, or `sum`: by the metric. The other formats contain all. Default: worst for the metric app_count, else sum',
      }),
    ),
    roll_up: rollUpParam,
  },
  result: CapabilityHeatmap,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: true },
  check(ctx, { metric, color_field, rule }) {
    checkOptionField(ctx, 'color_field', typeOf(ctx, 'color_field', APP), color_field);
    if (metric === 'total_cost' || rule === 'mean') requirePermission(ctx.caller, 'costs.view');
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
    const lines = await input.lines(capabilityLines(input, params, only));
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
        ...(items[0]?.worst === undefined ? {} : ({ worst: 'key', share: 'number' } as const)),
        ...(items[0]?.mean === undefined ? {} : ({ mean: 'number' } as const)),
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
