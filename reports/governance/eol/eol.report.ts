import Type, { type Static } from 'typebox';
import { EOL_TOPIC } from '../../../domain/governance/eol/eol.model.ts';
import { visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../../domain/kernel/metamodel/eol.fields.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import {
  arrayOf,
  Choice,
  DateOnly,
  IntegerIn,
  Nullable,
  NullableText,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { type ChartContext, typeLabel, typePaint, typePlural } from '../../kernel/charts/charts.labels.ts';
import { formatSpan, passedPart, spanAfter } from '../../kernel/charts/charts.time.ts';
import type { Chart, ListChart } from '../../kernel/charts/charts.types.ts';
import { figuresTable, reportTable } from '../../kernel/report.formats.ts';
import { choices } from '../../kernel/report.params.ts';
import { jsonLine } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema, type ReportTable } from '../../kernel/report.ts';

/** Maximum number of applications of an item in a JSON response. */
const MOST_APPS = 1_000;

/** What the end of life of an item can be. */
const statuses = ['eol', 'approaching', 'supported', 'unknown'] as const;
const dateOrFlag = Type.Union([DateOnly, Type.Boolean(), Type.Null()]);
const App = object({ id: Uuid, name: Type.String() });

const Result = pagedReportSchema('EolReport', {
  items: arrayOf(
    {
      id: Uuid,
      name: Type.String(),
      type: Type.String(),
      subtype: Nullable(Type.String()),
      eol_product: Nullable(Type.String()),
      eol_label: NullableText('The label of the product; null if it is unknown'),
      eol_cycle: Nullable(Type.String()),
      status: Choice(statuses),
      source: Choice(
        ['manual', 'api'],
        '`api`: the linked release cycle; `manual`: the lifecycle of the card',
      ),
      ends_on: Nullable(DateOnly),
      days_left: Nullable(Type.Integer({ description: 'Until `ends_on`; negative if it has passed' })),
      cycle_data: Nullable(object({ releaseDate: Nullable(DateOnly), support: dateOrFlag, eol: dateOrFlag })),
      lifecycle: Nullable(Type.Record(Type.String(), Type.String())),
      affected_app_count: Type.Integer(),
      affected_apps: Type.Array(App, {
        description: `By name; at most ${MOST_APPS} of each item, but all in files`,
      }),
    },
    { description: 'Earliest end first' },
  ),
  summary: object({
    eol: Type.Integer(),
    approaching: Type.Integer(),
    supported: Type.Integer(),
    unknown: Type.Integer(),
    impacted_apps: Type.Integer({ description: 'Applications that use an item past its end of life' }),
    approaching_impacted_apps: Type.Integer({
      description: 'Applications that use an item near its end of life',
    }),
    manual: Type.Integer({ description: 'Items whose source is `manual`' }),
  }),
});
type Result = Static<typeof Result>;

/** Default number of days before the end in which an item counts as approaching. */
const DAYS = 180;

/**
 * Cards with a known end of life, from the linked release cycle or else from their lifecycle, and the applications that
 * depend on them. Product data is always current, even with `as_of`.
 */
export const eolReport = defineReport({
  name: 'eol',
  id: 'readEolReport',
  summary: 'Read cards at or near their end of life, and the dependent applications',
  description:
    'Applications and IT components that are linked to a release cycle, or whose lifecycle has a phase-out or end date. `eol`: the end is past; `approaching`: it is within `days`, or the phase-out has begun; `unknown`: linked, but the end is unknown. `source` is `api` if the linked cycle determines it, `manual` if the lifecycle does. `affected_apps` are the applications that use an IT component; omitted without relations.view.',
  permission: 'reports.ea_dashboard',
  params: {
    days: IntegerIn(0, 36_500, 'Number of days before its end in which a card counts as `approaching`', DAYS),
    status: Type.Optional(
      Type.String({
        pattern: `^(${statuses.join('|')})(,(${statuses.join('|')}))*$`,
        maxLength: 100,
        description: 'Only items of these statuses, comma-separated; the summary counts all',
        ...choices({ of: 'values', values: statuses }),
        examples: ['eol,approaching'],
      }),
    ),
  },
  result: Result,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: false },
  topics: () => ['cards', 'relations', EOL_TOPIC],
  isDaily: true,
  async compute({ sql, rows, ctx, params, cards, asOf, range }) {
    const { days, status } = params as { days: number; status?: string };
    const relationTypes = may(ctx.caller, 'relations.view') ? ctx.metamodel.visibleRelationTypes : [];
    const before = judgedCards(ctx.metamodel, cards, asOf.toISOString().slice(0, 10), days);
    const apps = appsOf(ctx, relationTypes);
    const statuses = status === undefined ? null : status.split(',');
    const items = await rows({
      before,
      from: fragment`judged j where ${statuses}::text[] is null or j.status = any(${statuses}::text[])`,
      alias: 'j',
      keys: [
        { sql: "coalesce(j.ends_on, 'infinity'::date)", type: 'date' },
        { sql: 'j.name', type: 'text' },
        { sql: 'j.id', type: 'uuid' },
      ],
      line: itemLine,
      joins: fragment`cross join lateral (
        select count(*) as total, coalesce(jsonb_agg(jsonb_build_object('id', u.id, 'name', u.name) order by u.name, u.id)
          filter (where u.n <= ${range ? MOST_APPS : null}::int is not false), '[]') as list
        from (select u.*, row_number() over (order by u.name, u.id) as n from (${embed(apps)}) u) u) a`,
    });
    const summary = await query(sql).value`${embed(before)},
      impact as (
        select count(distinct u.id) filter (where j.status = 'eol') as now,
               count(distinct u.id) filter (where j.status = 'approaching') as soon
        from judged j cross join lateral (${embed(apps)}) u where j.status in ('eol', 'approaching')
      )
      select json_build_object(
        'eol', count(*) filter (where status = 'eol'), 'approaching', count(*) filter (where status = 'approaching'),
        'supported', count(*) filter (where status = 'supported'),
        'unknown', count(*) filter (where status = 'unknown'),
        'impacted_apps', (select now from impact), 'approaching_impacted_apps', (select soon from impact),
        'manual', count(*) filter (where source = 'manual'))::text
      from judged`;
    return ['{"items":[\n', items, `\n],"summary":${summary}}`];
  },
  isPaged: true,
  chart: (result, _params, context) => eolChart(result, context),
  tables: (result) => [itemsTable(result), appsTable(result), figuresTable('summary', result.summary)],
});

/**
 * The common table `judged` of the cards with an end of life, and their status. The end of the linked cycle takes precedence.
 * @param today `YYYY-MM-DD`
 */
const judgedCards = (metamodel: Metamodel, cards: Fragment, today: string, days: number): Fragment =>
  fragment`with asked as (select ${today}::date as today, ${days}::int as days),
      linked as (
        select c.id, c.name, c.type, c.subtype, c.lifecycle,
          nullif(c.attributes ->> '${embed(EOL_PRODUCT)}', '') as product, nullif(c.attributes ->> '${embed(EOL_CYCLE)}', '') as cycle,
          ${embed(phase('phaseOut'))} as phase_out, ${embed(phase('endOfLife'))} as end_of_life
        from cards c
        where c.type = any(${typesOfProducts(metamodel)}::text[])
          and (nullif(c.attributes ->> '${embed(EOL_PRODUCT)}', '') is not null
            or nullif(c.lifecycle ->> 'phaseOut', '') is not null or nullif(c.lifecycle ->> 'endOfLife', '') is not null)
          and (${embed(cards)})
        offset 0
      ),
      known as (
        select l.*, p.label, y.product is not null as found, y.release_date, y.eol_from, y.is_eol, y.support_until, y.is_supported,
          y.eol_from is not null or y.is_eol is not null as has_fact,
          l.phase_out is not null or l.end_of_life is not null as planned
        from linked l left join eol_products p on p.name = l.product
          left join eol_cycles y on y.product = l.product and y.cycle = l.cycle
      ),
      dated as (
        select k.*, case when has_fact or not planned then 'api' else 'manual' end as source,
          case when has_fact then eol_from when planned then end_of_life end as ends_on
        from known k
      ),
      judged as materialized (
        select d.*,
          case when source = 'api' and not has_fact then 'unknown'
               when ends_on <= today or (has_fact and eol_from is null and is_eol) then 'eol'
               when ends_on <= today + days then 'approaching'
               when source = 'manual' and phase_out <= today then 'approaching'
               else 'supported' end as status,
          ends_on - today as days_left
        from dated d, asked
      )`;

/** The applications `(id, name)` that use the component `j`. */
const appsOf = (ctx: Ctx, relationTypes: string[]): Fragment =>
  fragment`select c.id, c.name
      from (
        select r.source_id as id from relations r where r.target_id = j.id and r.type = any(${relationTypes}::text[])
        union
        select r.target_id from relations r where r.source_id = j.id and r.type = any(${relationTypes}::text[])) e
      join cards c on c.id = e.id
      where j.type = 'ITComponent' and c.type = 'Application' and c.status = 'ACTIVE' and (${embed(visibleCards(ctx))})`;

/** A row of `judged j`, with its applications `a`. */
const itemLine = jsonLine({
  id: { id: 'j.id' },
  name: { text: 'j.name' },
  type: { text: 'j.type' },
  subtype: { text: 'j.subtype' },
  eol_product: { text: 'j.product' },
  eol_label: { text: 'j.label' },
  eol_cycle: { text: 'j.cycle' },
  status: { text: 'j.status' },
  source: { text: 'j.source' },
  ends_on: { json: 'to_json(j.ends_on)' },
  days_left: { json: 'j.days_left' },
  cycle_data: {
    json: `case when j.found then json_build_object('releaseDate', j.release_date,
        'support', coalesce(to_jsonb(j.support_until), to_jsonb(j.is_supported)),
        'eol', coalesce(to_jsonb(j.eol_from), to_jsonb(j.is_eol))) end`,
  },
  lifecycle: { json: 'j.lifecycle' },
  affected_app_count: { json: 'a.total' },
  affected_apps: { json: 'a.list' },
});

/** Types of cards that can be linked to products. */
const typesOfProducts = ({ cardTypes, visibleTypes }: Metamodel): string[] =>
  visibleTypes.filter((key) => cardTypes.get(key)!.fields.has(EOL_PRODUCT));

/** A phase of the lifecycle as a date; null for an empty text, which old rows can contain. */
const phase = (key: string) => `nullif(c.lifecycle ->> '${key}', '')::date`;

const itemsTable = ({ items }: Result): ReportTable =>
  reportTable(
    'items',
    {
      id: 'key',
      name: 'text',
      type: 'key',
      subtype: 'key',
      eol_product: 'text',
      eol_label: 'text',
      eol_cycle: 'text',
      status: 'key',
      source: 'key',
      ends_on: 'date',
      days_left: 'number',
      affected_apps: 'number',
    },
    items.map((item) => ({ ...item, affected_apps: item.affected_app_count })),
  );

const appsTable = ({ items }: Result): ReportTable =>
  reportTable(
    'affected_apps',
    { id: 'key', name: 'text', status: 'key', ends_on: 'date', app_id: 'key', app_name: 'text' },
    items.flatMap((item) =>
      item.affected_apps.map((app) => ({ ...item, app_id: app.id, app_name: app.name })),
    ),
  );

/** Number of quarters before today and from today on that have their own column. */
const QUARTERS = { past: 2, ahead: 16 };
/** Number of listed cards. */
const LISTED = 12;

/** Cards by the quarter in which they end, by type, and the next ends with the number of applications that depend on them. */
function eolChart({ items, summary }: Result, context: ChartContext): Chart {
  const title = reportText(context, 'eol.title');
  if (items.length === 0)
    return { kind: 'list', title, columns: [], rows: [], empty: reportText(context, 'eol.empty') };
  const now = Date.parse(context.today);
  const types = [...new Set(items.map(({ type }) => type))];
  const first = spanAfter(now, 'quarter', -QUARTERS.past);
  const count = QUARTERS.past + QUARTERS.ahead;
  const starts = Array.from({ length: count }, (_, at) => spanAfter(first, 'quarter', at));
  const end = spanAfter(first, 'quarter', count);
  const spans: { name: string; apart?: boolean }[] = [
    { name: reportText(context, 'eol.earlier'), apart: true },
    ...starts.map((start) => ({ name: formatSpan(start, 'quarter') })),
    { name: reportText(context, 'eol.later'), apart: true },
    { name: reportText(context, 'eol.noDate'), apart: true },
  ];
  const columns = spans.map((span) => ({ ...span, values: types.map(() => 0) }));
  for (const { type, ends_on, status } of items) {
    const time = ends_on === null ? undefined : Date.parse(ends_on);
    const quarter = time === undefined ? -1 : starts.findLastIndex((start) => start <= time);
    const undated = status === 'eol' ? 0 : columns.length - 1;
    const at = time === undefined ? undated : time >= end ? columns.length - 2 : quarter + 1;
    columns[at]!.values[types.indexOf(type)]! += 1;
  }
  const past = items
    .filter(({ status, affected_apps }) => status === 'eol' && affected_apps.length > 0)
    .toSorted((a, b) => b.affected_apps.length - a.affected_apps.length);
  const shown = columns.filter(({ apart, values }) => !apart || values.some((value) => value > 0));
  return {
    kind: 'panels',
    title,
    note: reportText(context, 'eol.note', {
      count: items.length,
      past: summary.eol,
      used: summary.impacted_apps,
      soon: summary.approaching,
      usedSoon: summary.approaching_impacted_apps,
    }),
    panels: [
      {
        kind: 'columns',
        wide: true,
        itemAxis: reportText(context, 'eol.quarter'),
        title: reportText(context, 'eol.byQuarter'),
        valueAxis: reportText(context, 'axis.cards'),
        unit: 'count',
        series: types.map((type) => ({ name: typePlural(context, type), paint: typePaint(context, type) })),
        items: shown,
        today: {
          name: formatSpan(now, 'quarter'),
          passed: passedPart(now, starts[QUARTERS.past]!, 'quarter'),
        },
      },
      ...(past.length > 0
        ? [{ ...endsList(reportText(context, 'eol.past'), past, context), wide: true }]
        : []),
      {
        ...endsList(
          reportText(context, 'eol.next'),
          items.filter(({ ends_on }) => ends_on !== null && ends_on > context.today),
          context,
        ),
        wide: true,
      },
    ],
  };
}

/** Cards with their end and what depends on them. */
function endsList(title: string, items: Result['items'], context: ChartContext): ListChart {
  return {
    kind: 'list',
    title,
    columns: [
      { name: reportText(context, 'axis.card'), share: 34 },
      { name: reportText(context, 'eol.product'), share: 18 },
      { name: reportText(context, 'eol.quarter'), share: 14 },
      { name: reportText(context, 'eol.dependents'), share: 34 },
    ],
    rows: items.slice(0, LISTED).map(({ id, name, type, eol_label, eol_cycle, ends_on, affected_apps }) => ({
      id,
      cells: [
        name,
        eol_label === null ? typeLabel(context, type) : [eol_label, eol_cycle ?? ''].join(' ').trim(),
        ends_on === null ? '–' : formatSpan(Date.parse(ends_on), 'quarter'),
        affected_apps.length === 0
          ? '–'
          : dependents(
              affected_apps.map((app) => app.name),
              context,
            ),
      ],
      paint: typePaint(context, type),
    })),
    total: items.length,
  };
}

/** The first names and the number of the others. */
const dependents = (names: string[], context: ChartContext): string =>
  names.length <= 3
    ? names.join(', ')
    : reportText(context, 'eol.more', { names: names.slice(0, 2).join(', '), count: names.length - 2 });
