import Type, { type Static } from 'typebox';
import { arrayOf, Count, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { BPM_TOPIC, PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { embed, query } from '../../../platform/database.ts';
import { countedBars } from '../../kernel/charts/charts.counted.ts';
import { type ChartContext, typePlural } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportTable, resultTable } from '../../kernel/report.formats.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, reportSchema } from '../../kernel/report.ts';
import { ofProcesses, shownDiagram } from './bpm.shared.ts';

const Counts = (unknown: boolean) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: unknown ? 'By value; `unknown` for processes without one' : 'By value',
  });
const Name = Type.String();

const Result = reportSchema('BpmDashboard', {
  total_processes: Count,
  by_process_type: Counts(false),
  by_maturity: Counts(true),
  by_automation: Counts(true),
  by_risk: Counts(true),
  top_risk_processes: arrayOf({ id: Uuid, name: Name, risk: Type.String(), maturity: Type.String() }),
  diagram_coverage: object({
    with_diagram: Count,
    total: Count,
    percentage: Type.Number({ minimum: 0, maximum: 100 }),
  }),
});

type Result = Static<typeof Result>;
type Counts = Record<string, number>;

/** Maximum number of listed processes. */
const MOST = 10;

const counts = (key: string, unknown: boolean): string =>
  `(select coalesce(jsonb_object_agg(k, n), '{}') from (
     select ${unknown ? `coalesce(p.attributes ->> '${key}', 'unknown')` : `p.attributes ->> '${key}'`} as k, count(*) as n
     from p group by 1) counted where k is not null)`;

/** Key figures of processes. */
export const bpmDashboardReport = defineReport({
  ...ofProcesses,
  name: 'bpm-dashboard',
  id: 'readBpmDashboard',
  summary: 'Read the key figures of processes',
  description:
    'Number of processes by type, maturity, automation and risk, the first ten with a high or critical risk, and the number with a diagram. Percentages have one decimal.',
  result: Result,
  isCurrentOnly: true,
  topics: () => [`cards:${PROCESS}`, BPM_TOPIC],
  async compute({ sql, cards }) {
    return await query(sql).value`with p as materialized (
         select c.id, c.name, c.name_key, c.attributes from cards c where c.type = ${PROCESS} and ${embed(cards)}),
       drawn as (select count(*) as n from p ${embed(shownDiagram)}),
       total as (select count(*) as n from p)
       select json_build_object('total_processes', (select n from total),
         'by_process_type', ${embed(counts('processType', false))},
         'by_maturity', ${embed(counts('maturity', true))},
         'by_automation', ${embed(counts('automationLevel', true))},
         'by_risk', ${embed(counts('riskLevel', true))},
         'top_risk_processes', (select coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'risk', t.risk,
             'maturity', t.maturity) order by t.n), '[]') from (
           select p.id, p.name, p.attributes ->> 'riskLevel' as risk,
             coalesce(p.attributes ->> 'maturity', 'unknown') as maturity,
             row_number() over (order by p.attributes ->> 'riskLevel' = 'critical' desc, p.name_key, p.id) as n
           from p where p.attributes ->> 'riskLevel' in ('critical', 'high') order by n limit ${embed(MOST)}) t),
         'diagram_coverage', (select json_build_object('with_diagram', drawn.n, 'total', total.n,
             'percentage', case when total.n = 0 then 0 else round(100.0 * drawn.n / total.n, 1) end)
           from drawn, total))::text as result`;
  },
  chart: (result, _params, context) => bpmDashboardChart(result, context),
  tables: ({ total_processes, top_risk_processes, diagram_coverage, position: _, ...by }) => {
    const counted = Object.entries<Counts>(by).flatMap(([figure, values]) =>
      Object.entries(values).map(([value, count]) => ({ figure, value, count })),
    );
    return [
      reportTable('figures', { figure: 'text', value: 'text', count: 'number' }, [
        { figure: 'total_processes', value: null, count: total_processes },
        { figure: 'with_diagram', value: null, count: diagram_coverage.with_diagram },
        ...counted,
      ]),
      resultTable(Result, { top_risk_processes }, 'top_risk_processes'),
    ];
  },
});

/** Counts with those of cards without a value. */
function withUnknown(counts: Counts, total: number): Counts {
  const rest = total - Object.values(counts).reduce((sum, count) => sum + count, 0);
  return rest > 0 ? { ...counts, unknown: rest } : counts;
}

/** The key figures of processes, and bars for each counted field. */
function bpmDashboardChart(result: Result, context: ChartContext): Chart {
  const fields: [key: string, counts: Counts][] = [
    ['processType', withUnknown(result.by_process_type, result.total_processes)],
    ['maturity', result.by_maturity],
    ['automationLevel', result.by_automation],
    ['riskLevel', result.by_risk],
  ];
  const { total_processes } = result;
  const high = (result.by_risk.high ?? 0) + (result.by_risk.critical ?? 0);
  const { with_diagram, percentage } = result.diagram_coverage;
  return {
    kind: 'panels',
    title: reportText(context, 'axis.processes'),
    panels: [
      {
        kind: 'figures',
        title: typePlural(context, PROCESS),
        items: [
          {
            name: reportText(context, 'axis.processes'),
            value: total_processes,
            unit: 'count',
            hint: reportText(context, 'bpm.highRisk', { count: high }),
          },
          {
            name: reportText(context, 'bpm.withDiagram'),
            value: with_diagram,
            unit: 'count',
            hint: reportText(context, 'bpm.without', { count: total_processes - with_diagram }),
          },
          {
            name: reportText(context, 'bpm.covered'),
            value: percentage,
            unit: 'percent',
            hint: reportText(context, 'bpm.ofAll'),
          },
        ],
      },
      ...fields.map(([key, counts]) => countedBars(context, PROCESS, key, counts)),
    ],
  };
}
