import Type, { type TProperties } from 'typebox';
import { LEVEL_FIELD } from '../../../domain/inventory/cards/rules/capability.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { closed, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { reportAnswer } from '../../kernel/report.answer.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { column } from '../../kernel/report.formats.ts';
import { typeOf } from '../../kernel/report.params.ts';
import { jsonLines, literal } from '../../kernel/report.sql.ts';
import { defineReport } from '../../kernel/report.ts';
import { bpmCapabilityHeatmapChart } from './bpm.charts.ts';
import { relatedTo } from './bpm.sql.ts';

const object = <const T extends TProperties>(members: T) => Type.Object(members, closed);
const Name = Type.String();

const Answer = reportAnswer('BpmCapabilityHeatmap', {
  metric: Type.String(),
  items: Type.Array(
    object({
      id: Uuid,
      name: Name,
      parent_id: Nullable(Uuid),
      level: Type.String({ description: 'L1 to L5' }),
      metric_value: Type.Number(),
      attributes: OpenObject,
    }),
  ),
});

const CAPABILITY = 'BusinessCapability';

/** What is counted of the processes of a capability, over the alias `p`. */
const metrics = {
  process_count: 'true',
  high_risk_count: `p.attributes ->> 'riskLevel' in ('high', 'critical')`,
  low_maturity_count: `p.attributes ->> 'maturity' in ('initial', 'managed')`,
  automated_count: `p.attributes ->> 'automationLevel' = 'fullyAutomated'`,
} as const;
type Metric = keyof typeof metrics;

/** Capabilities with one number about the processes that support each. */
export const bpmCapabilityHeatmapReport = defineReport({
  name: 'bpm-capability-heatmap',
  path: 'bpm/capability-heatmap',
  id: 'readBpmCapabilityHeatmap',
  module: 'bpm',
  summary: 'Read capabilities with a number about the processes that support each',
  description:
    'Counts the processes that are linked to the capability itself, not to those below it. `filter` narrows the processes.',
  permission: 'reports.bpm_dashboard',
  permissionNote: 'relations.view',
  params: {
    metric: Type.Enum(Object.keys(metrics) as [Metric, ...Metric[]], {
      default: 'process_count',
      description:
        'All processes, those with a high or critical risk, those whose maturity is initial or managed, or those that are fully automated',
    }),
  },
  answer: Answer,
  timeTravel: true,
  check(ctx) {
    typeOf(ctx, 'type', PROCESS);
    typeOf(ctx, 'type', CAPABILITY);
    requirePermission(ctx.caller, 'relations.view');
  },
  dependsOn: (topic) =>
    topic === 'metamodel' ||
    topic.startsWith('relations:') ||
    topic === `cards:${PROCESS}` ||
    topic === `cards:${CAPABILITY}`,
  variant: (ctx) => String(may(ctx.caller, 'costs.view')),
  async compute({ sql, ctx, params, cards, visible }) {
    const pairs = relatedTo(ctx, CAPABILITY);
    const { rows } = await sql.raw(
      `with p as materialized (select c.id, c.attributes from cards c where c.type = ? and ${cards.sql}),
       counted as (
         select b.other_id, count(*) as n from (${pairs.sql}) b join p on p.id = b.process_id
         where ${metrics[params.metric]} group by b.other_id),
       k as (
         select c.id, c.name, c.name_key, c.parent_id, c.attributes ->> ${literal(LEVEL_FIELD)} as level,
           ${reportAttributes(ctx, [CAPABILITY])} as attributes, coalesce(counted.n, 0) as n
         from cards c left join counted on counted.other_id = c.id where c.type = ? and ${visible.sql})
       select ${jsonLines(
         `json_build_object('id', k.id, 'name', k.name, 'parent_id', k.parent_id, 'level', coalesce(k.level, 'L1'),
            'metric_value', k.n, 'attributes', k.attributes)`,
         'k.name_key, k.id',
       )} as items from k`,
      [PROCESS, ...cards.bindings, ...pairs.bindings, CAPABILITY, ...visible.bindings],
    );
    return `{"metric":${JSON.stringify(params.metric)},"items":${rows[0].items}}`;
  },
  chart: ({ items }, { metric }, context) => bpmCapabilityHeatmapChart(items, metric, context),
  tables: ({ items }) => [
    {
      name: 'items',
      columns: [
        column('id', 'key'),
        column('name'),
        column('parent_id', 'key'),
        column('level', 'key'),
        column('metric_value', 'number'),
      ],
      rows: items.map(({ id, name, parent_id, level, metric_value }) => [
        id,
        name,
        parent_id,
        level,
        metric_value,
      ]),
    },
  ],
});
