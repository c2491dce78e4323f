import Type from 'typebox';
import { LEVEL_FIELD } from '../../../domain/inventory/cards/rules/capability.ts';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { decapitalised, typeLabel, typePlural } from '../../kernel/charts/charts.labels.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { cardsOfPage } from '../../kernel/report.rows.ts';
import { rolledUp, rollUpParam } from '../../kernel/report.scope.ts';
import { jsonLines, literal } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';
import { ofProcesses, relatedTo } from './bpm.shared.ts';

const Name = Type.String();

const Result = pagedReportSchema('BpmCapabilityHeatmap', {
  metric: Type.String(),
  items: arrayOf({
    id: Uuid,
    name: Name,
    parent_id: Nullable(Uuid),
    level: Type.String({ description: 'L1 to L5' }),
    metric_value: Type.Number(),
    attributes: OpenObject,
  }),
});

const CAPABILITY = 'BusinessCapability';

/** Conditions of the counted processes, over the alias `p`. */
const metrics = {
  process_count: 'true',
  high_risk_count: `p.attributes ->> 'riskLevel' in ('high', 'critical')`,
  low_maturity_count: `p.attributes ->> 'maturity' in ('initial', 'managed')`,
  automated_count: `p.attributes ->> 'automationLevel' = 'fullyAutomated'`,
} as const;
type Metric = keyof typeof metrics;

/** Capabilities with a count of the processes that support each. */
export const bpmCapabilityHeatmapReport = defineReport({
  ...ofProcesses,
  name: 'bpm-capability-heatmap',
  id: 'readBpmCapabilityHeatmap',
  summary: 'Read capabilities with a count of the processes that support each',
  description:
    'Counts the processes that are linked to the capability itself, with `roll_up` also to its descendants. `filter` applies to the processes.',
  needs: ['relations.view'],
  types: [PROCESS, CAPABILITY],
  params: {
    roll_up: rollUpParam,
    metric: Type.Enum(Object.keys(metrics) as [Metric, ...Metric[]], {
      default: 'process_count',
      description:
        'All processes, those with a high or critical risk, those whose maturity is initial or managed, or those that are fully automated',
    }),
  },
  result: Result,
  topics: () => ['relations', `cards:${PROCESS}`, `cards:${CAPABILITY}`],
  isPaged: true,
  async compute({ sql, ctx, params, cards, visible, ...page }) {
    const related = relatedTo(ctx, CAPABILITY);
    const seen = fragment`c.type = ${CAPABILITY} and ${embed(visible)}`;
    const shown = await cardsOfPage(page, seen);
    const direct = {
      ...fragment`select e.process_id as card_id, e.other_id from (${embed(related)}) e`,
      once: '' as const,
    };
    const pairs = params.roll_up ? rolledUp(direct, 'other_id', seen) : direct;
    const items = await query(sql)
      .value<string>`with p as materialized (select c.id, c.attributes from cards c where c.type = ${PROCESS} and ${embed(cards)}),
       counted as (
         select b.other_id, count(distinct b.card_id) as n from (${embed(pairs)}) b join p on p.id = b.card_id
         where ${embed(metrics[params.metric])} group by b.other_id),
       k as (
         select c.id, c.name, c.name_key, c.parent_id, c.attributes ->> ${embed(literal(LEVEL_FIELD))} as level,
           ${embed(reportAttributes(ctx, [CAPABILITY]))} as attributes, coalesce(counted.n, 0) as n
         from cards c left join counted on counted.other_id = c.id where ${embed(shown)})
       select ${embed(
         jsonLines(
           `json_build_object('id', k.id, 'name', k.name, 'parent_id', k.parent_id, 'level', coalesce(k.level, 'L1'),
            'metric_value', k.n, 'attributes', k.attributes)`,
           'k.name_key, k.id',
         ),
       )} as items from k`;
    return `{"metric":${JSON.stringify(params.metric)},"items":${items}}`;
  },
  chart: ({ items }, { metric, roll_up }, context) => ({
    kind: 'boxes',
    title: reportText(context, 'title.by', {
      what: typePlural(context, CAPABILITY),
      field: decapitalised(reportText(context, `bpm.${metric}`), context),
    }),
    note: reportText(context, 'bpm.capabilities', { count: items.length }),
    itemAxis: typeLabel(context, CAPABILITY),
    boxes: items.map(({ id, name, parent_id, metric_value }) => ({
      id,
      name,
      parent_id,
      value: metric_value,
    })),
    member: ['', ''],
    scale: { name: reportText(context, `bpm.${metric}`), unit: 'count' },
    rolledUp: roll_up,
  }),
  tables: ({ items }) => [
    reportTable(
      'items',
      { id: 'key', name: 'text', parent_id: 'key', level: 'key', metric_value: 'number' },
      items,
    ),
  ],
});
