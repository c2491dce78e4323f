import Type, { type TProperties } from 'typebox';
import { closed, Uuid } from '../../../domain/kernel/shapes.ts';
import { BPM_TOPIC, PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { queryValue } from '../../../platform/database.ts';
import { reportAnswer } from '../../kernel/report.answer.ts';
import { column } from '../../kernel/report.formats.ts';
import { typeOf } from '../../kernel/report.params.ts';
import { defineReport } from '../../kernel/report.ts';
import { bpmDashboardChart } from './bpm.charts.ts';
import { shownDiagram } from './bpm.sql.ts';

const Count = Type.Integer({ minimum: 0 });
const Counts = (unknown: boolean) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: unknown ? 'By value; `unknown` for processes without one' : 'By value',
  });
const object = <const T extends TProperties>(members: T) => Type.Object(members, closed);
const Name = Type.String();

const Answer = reportAnswer('BpmDashboard', {
  total_processes: Count,
  by_process_type: Counts(false),
  by_maturity: Counts(true),
  by_automation: Counts(true),
  by_risk: Counts(true),
  top_risk_processes: Type.Array(
    object({ id: Uuid, name: Name, risk: Type.String(), maturity: Type.String() }),
  ),
  diagram_coverage: object({
    with_diagram: Count,
    total: Count,
    percentage: Type.Number({ minimum: 0, maximum: 100 }),
  }),
});

type Counts = Record<string, number>;

/** How many processes are named. */
const MOST = 10;

const counts = (key: string, unknown: boolean): string =>
  `(select coalesce(jsonb_object_agg(k, n), '{}') from (
     select ${unknown ? `coalesce(p.attributes ->> '${key}', 'unknown')` : `p.attributes ->> '${key}'`} as k, count(*) as n
     from p group by 1) counted where k is not null)`;

/** Key figures of processes. */
export const bpmDashboardReport = defineReport({
  name: 'bpm-dashboard',
  path: 'bpm/dashboard',
  id: 'readBpmDashboard',
  module: 'bpm',
  summary: 'Read the key figures of processes',
  description:
    'How many there are of each type, maturity, automation and risk, the first ten of those with a high or critical risk, and how many have a diagram. Percentages have one decimal.',
  permission: 'reports.bpm_dashboard',
  params: {},
  answer: Answer,
  timeTravel: false,
  check(ctx) {
    typeOf(ctx, 'type', PROCESS);
  },
  dependsOn: (topic) => topic === `cards:${PROCESS}` || topic === 'metamodel' || topic === BPM_TOPIC,
  variant: () => '',
  async compute({ sql, cards }) {
    return await queryValue(
      sql,
      `with p as materialized (
         select c.id, c.name, c.name_key, c.attributes from cards c where c.type = ? and ${cards.sql}),
       drawn as (select count(*) as n from p ${shownDiagram}),
       total as (select count(*) as n from p)
       select json_build_object('total_processes', (select n from total),
         'by_process_type', ${counts('processType', false)},
         'by_maturity', ${counts('maturity', true)},
         'by_automation', ${counts('automationLevel', true)},
         'by_risk', ${counts('riskLevel', true)},
         'top_risk_processes', (select coalesce(json_agg(json_build_object('id', t.id, 'name', t.name, 'risk', t.risk,
             'maturity', t.maturity) order by t.n), '[]') from (
           select p.id, p.name, p.attributes ->> 'riskLevel' as risk,
             coalesce(p.attributes ->> 'maturity', 'unknown') as maturity,
             row_number() over (order by p.attributes ->> 'riskLevel' = 'critical' desc, p.name_key, p.id) as n
           from p where p.attributes ->> 'riskLevel' in ('critical', 'high') order by n limit ${MOST}) t),
         'diagram_coverage', (select json_build_object('with_diagram', drawn.n, 'total', total.n,
             'percentage', case when total.n = 0 then 0 else round(100.0 * drawn.n / total.n, 1) end)
           from drawn, total))::text as answer`,
      [PROCESS, ...cards.bindings],
    );
  },
  chart: (answer, _params, context) => bpmDashboardChart(answer, context),
  tables: ({ total_processes, top_risk_processes, diagram_coverage, ...by }) => [
    {
      name: 'figures',
      columns: [column('figure'), column('value'), column('count', 'number')],
      rows: [
        ['total_processes', null, total_processes],
        ['with_diagram', null, diagram_coverage.with_diagram],
        ...Object.entries(by)
          .filter(([figure]) => figure.startsWith('by_'))
          .flatMap(([figure, values]) =>
            Object.entries(values as Counts).map(([value, n]) => [figure, value, n]),
          ),
      ],
    },
    {
      name: 'top_risk_processes',
      columns: [column('id', 'key'), column('name'), column('risk', 'key'), column('maturity', 'key')],
      rows: top_risk_processes.map(({ id, name, risk, maturity }) => [id, name, risk, maturity]),
    },
  ],
});
