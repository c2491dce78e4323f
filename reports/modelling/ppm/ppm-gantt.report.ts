import Type, { type Static } from 'typebox';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { arrayOf, DateOnly, Nullable, OptionalText, Uuid } from '../../../domain/kernel/shapes.ts';
import { NEWEST_FIRST, statusReportMembers } from '../../../domain/modelling/ppm/initiative.kinds.ts';
import { INITIATIVE } from '../../../domain/modelling/ppm/ppm.model.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import {
  type ChartContext,
  fieldLabel,
  noValue,
  optionLegend,
  typeLabel,
  typeNames,
} from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { choices } from '../../kernel/report.params.ts';
import { nameKeys } from '../../kernel/report.rows.ts';
import { type JsonMember, jsonLine, jsonText } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema, type ReportTable } from '../../kernel/report.ts';
import { initiativeTopics, ofPortfolio, showsCosts } from './ppm.shared.ts';
import { groupTypes } from './ppm-group-options.report.ts';

const Text = Nullable(Type.String());
const Amount = Nullable(Type.Number({ description: 'Null without costs.view' }));

const Result = pagedReportSchema('PpmGantt', {
  items: arrayOf({
    id: Uuid,
    name: Type.String(),
    subtype: Text,
    status: Text,
    parent_id: Nullable(Uuid),
    start_date: Nullable(DateOnly),
    end_date: Nullable(DateOnly),
    cost_budget: Amount,
    cost_actual: Amount,
    capex_planned: Amount,
    capex_actual: Amount,
    opex_planned: Amount,
    opex_actual: Amount,
    group_id: Nullable(Uuid),
    group_name: Text,
    latest_report: Nullable(Type.Unsafe<Record<string, string | null>>(Type.Ref('PpmStatusReport#'))),
    latest_report_id: Nullable(Uuid),
    stakeholders: arrayOf(
      { user_id: Uuid, display_name: Type.String(), role_key: Type.String() },
      { description: 'Empty without stakeholders.view' },
    ),
  }),
});
type Result = Static<typeof Result>;

type Item = Result['items'][number];

/** The attributes of the report as `v`, each extracted once. */
const attributes = `cross join lateral (select c.attributes ->> 'initiativeStatus' as status,
    c.attributes ->> 'startDate' as start_date, c.attributes ->> 'endDate' as end_date,
    c.attributes -> 'costBudget' as cost_budget, c.attributes -> 'costActual' as cost_actual offset 0) v`;

/** The text of an attribute if it is a date, else null. */
const day = (column: string): string =>
  `case when ${column} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then ${column} end`;
const amount = (column: string): string => `case when jsonb_typeof(${column}) = 'number' then ${column} end`;

/** Members of a status report that may be null; all others are keys, ids and times, which need no escaping. */
const written: Record<string, JsonMember> = {
  reporter_id: { json: 'to_json(t.reporter_id)' },
  reporter: { json: statusReportMembers.reporter! },
  summary: { text: 't.summary' },
  accomplishments: { text: 't.accomplishments' },
  next_steps: { text: 't.next_steps' },
};
const report = jsonText(
  Object.fromEntries(
    Object.entries(statusReportMembers).map(([name, id]) => [name, written[name] ?? { id }]),
  ),
);
const person = jsonText({
  user_id: { id: 'k.user_id' },
  display_name: { text: 'u.display_name' },
  role_key: { text: 'k.role' },
});

/** Amounts, null if the caller sees no costs. */
function moneyOf(ctx: Ctx): Record<string, { json: string }> {
  const money = {
    cost_budget: amount('v.cost_budget'),
    cost_actual: amount('v.cost_actual'),
    capex_planned: 'coalesce(l.capex_planned, 0)',
    capex_actual: 'coalesce(l.capex_actual, 0)',
    opex_planned: 'coalesce(l.opex_planned, 0)',
    opex_actual: 'coalesce(l.opex_actual, 0)',
  };
  const shown = showsCosts(ctx);
  return Object.fromEntries(
    Object.entries(money).map(([name, json]) => [name, { json: shown ? json : 'null::jsonb' }]),
  );
}

/** In the order of rows, the id of the group of those without a group. */
const NO_GROUP = '00000000-0000-0000-0000-000000000000';

/** The first related card of a type by name, over the alias `g`. */
function groupJoin(ctx: Ctx, type: string | undefined, visible: Fragment): Fragment {
  if (type === undefined) return fragment`cross join (select null::uuid as id, null::text as name) g`;
  const pairs = relatedPairs(ctx, INITIATIVE, type);
  return fragment`left join (
        select distinct on (p.card_id) p.card_id, c.id, c.name from (${embed(pairs)}) p
        join cards c on c.id = p.other_id and c.type = ${type} and ${embed(visible)}
        order by p.card_id, c.name_key, c.id
      ) g on g.card_id = c.id`;
}

/** Initiatives over time, each with costs, people and its newest status report. */
export const ppmGanttReport = defineReport({
  ...ofPortfolio,
  name: 'ppm-gantt',
  id: 'readPpmGantt',
  summary: 'Read the initiatives over time',
  description:
    'Each initiative is listed once: if it is related to several cards of the grouping type, in the group of the first by name. Without costs.view all amounts are null. The workbook is the export of the portfolio, with a sheet for the newest reports and one for the people.',
  permissionNote: 'relations.view for group_by',
  params: {
    group_by: OptionalText(
      100,
      'Key of a type of the group options; default: no groups',
      choices({ of: 'types', card_type: INITIATIVE }),
    ),
  },
  result: Result,
  check(ctx, { group_by }) {
    if (group_by === undefined) return;
    requirePermission(ctx.caller, 'relations.view');
    if (!groupTypes(ctx).some(({ type_key }) => type_key === group_by)) {
      throw invalidField('group_by', 'unknown_value', `"${group_by}" is not one of the group options`);
    }
  },
  topics: ({ group_by }) => [
    ...initiativeTopics,
    ...(group_by === undefined ? [] : ['relations', `cards:${group_by}`]),
  ],
  isPaged: true,
  async compute({ rows, ctx, params, cards, visible }) {
    const people = may(ctx.caller, 'stakeholders.view') ? 's.people' : 'null';
    const item = jsonLine({
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      subtype: { text: 'c.subtype' },
      status: { text: 'v.status' },
      parent_id: { json: 'to_json(c.parent_id)' },
      start_date: { text: day('v.start_date') },
      end_date: { text: day('v.end_date') },
      ...moneyOf(ctx),
      group_id: { json: 'to_json(c.group_id)' },
      group_name: { text: 'c.group_name' },
      latest_report: { json: 'r.report' },
      latest_report_id: { json: 'to_json(r.id)' },
      stakeholders: { array: people },
    });
    const items = await rows({
      from: fragment`(select c.*, g.id as group_id, g.name as group_name
        from cards c ${embed(groupJoin(ctx, params.group_by, visible))}
        where c.type = ${INITIATIVE} and ${embed(cards)}) c`,
      keys: [
        { sql: '(c.group_id is null)::int', type: 'integer' },
        { sql: "coalesce(c.group_name, '')", type: 'text' },
        { sql: `coalesce(c.group_id, '${NO_GROUP}'::uuid)`, type: 'uuid' },
        ...nameKeys,
      ],
      line: item,
      joins: fragment`${embed(attributes)}
        left join (
          select card_id,
            sum(planned) filter (where category = 'capex') as capex_planned,
            sum(actual) filter (where category = 'capex') as capex_actual,
            sum(planned) filter (where category = 'opex') as opex_planned,
            sum(actual) filter (where category = 'opex') as opex_actual
          from ppm_cost_lines group by card_id
        ) l on l.card_id = c.id
        left join lateral (
          select t.id, ${embed(report)} as report from (
            select * from ppm_reports t where t.card_id = c.id order by ${embed(NEWEST_FIRST)} limit 1
          ) t
        ) r on true
        left join lateral (
          select string_agg(${embed(person)}, ',' order by k.role, lower(u.display_name), k.user_id) as people
          from stakeholders k join users u on u.id = k.user_id where k.card_id = c.id
        ) s on true`,
    });
    return ['{"items":[\n', items, '\n]}'];
  },
  tables: ({ items }) => [initiativesTable(items), reportsTable(items), peopleTable(items)],
  chart: ({ items }, { group_by }, context) => ppmGanttChart(items, group_by, context),
});

const initiativesTable = (items: Item[]): ReportTable =>
  reportTable(
    'initiatives',
    {
      id: 'key',
      name: 'text',
      subtype: 'text',
      status: 'text',
      parent_id: 'key',
      start_date: 'date',
      end_date: 'date',
      cost_budget: 'money',
      cost_actual: 'money',
      capex_planned: 'money',
      capex_actual: 'money',
      opex_planned: 'money',
      opex_actual: 'money',
      group_id: 'key',
      group_name: 'text',
      latest_report_id: 'key',
    },
    items,
  );

const reportsTable = (items: Item[]): ReportTable =>
  reportTable(
    'latest_reports',
    {
      initiative_id: 'key',
      initiative: 'text',
      report_date: 'date',
      schedule_health: 'text',
      cost_health: 'text',
      scope_health: 'text',
      summary: 'text',
      accomplishments: 'text',
      next_steps: 'text',
    },
    items.flatMap(({ id, name, latest_report: latest }): Record<string, string | null>[] =>
      latest ? [{ ...latest, initiative_id: id, initiative: name }] : [],
    ),
  );

const peopleTable = (items: Item[]): ReportTable =>
  reportTable(
    'stakeholders',
    { initiative_id: 'key', initiative: 'text', role_key: 'key', display_name: 'text', user_id: 'key' },
    items.flatMap(({ id, name, stakeholders }) =>
      stakeholders.map((one) => ({ ...one, initiative_id: id, initiative: name })),
    ),
  );

/** The initiatives over time, within their groups or below their parents, in the colour of their status. */
function ppmGanttChart(items: Item[], group_by: string | undefined, context: ChartContext): Chart {
  const dated = items.filter(({ start_date, end_date }) => start_date ?? end_date);
  const left = items.length - dated.length;
  const options = optionLegend(context, INITIATIVE, 'initiativeStatus');
  const groupOf = ({ group_id, status }: Item) =>
    group_by === undefined ? (status ?? '') : (group_id ?? '');
  const named = new Map(dated.map((item) => [groupOf(item), item.group_name ?? noValue(context)]));
  const noStatus = reportText(context, 'ppm.noStatus');
  const groups =
    group_by === undefined
      ? [...options, { key: '', name: noStatus, paint: 'others' as const }]
      : [...named].map(([key, name]) => ({ key, name }));
  return {
    kind: 'roadmap',
    title: reportText(context, 'ppm.plan', typeNames(context, INITIATIVE)),
    ...(dated.length === 0
      ? { empty: reportText(context, 'ppm.noDates') }
      : {
          note: reportText(context, left > 0 ? 'ppm.datedLeft' : 'ppm.dated', { count: dated.length, left }),
        }),
    itemAxis: typeLabel(context, INITIATIVE),
    phases: [
      { name: reportText(context, 'ppm.span'), paint: 'accent' },
      { name: reportText(context, 'ppm.end'), paint: 'accent' },
    ],
    today: context.today,
    items: dated.map((item) => ({
      id: item.id,
      name: item.name,
      dates: [item.start_date, item.end_date],
      group: groups.some(({ key }) => key === groupOf(item)) ? groupOf(item) : '',
    })),
    groups,
    groupAxis:
      group_by === undefined
        ? fieldLabel(context, INITIATIVE, 'initiativeStatus')
        : typeLabel(context, group_by),
  };
}
