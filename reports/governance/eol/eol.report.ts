import Type, { type Static } from 'typebox';
import { EOL_TOPIC } from '../../../domain/governance/eol/eol.model.ts';
import { visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
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
import { embed, query } from '../../../platform/database.ts';
import type { ChartContext } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { figuresTable, reportTable } from '../../kernel/report.formats.ts';
import { defineReport, type ReportTable, reportSchema } from '../../kernel/report.ts';

const dateOrFlag = Type.Union([DateOnly, Type.Boolean(), Type.Null()]);
const App = object({ id: Uuid, name: Type.String() });

const Result = reportSchema('EolReport', {
  items: arrayOf(
    {
      id: Uuid,
      name: Type.String(),
      type: Type.String(),
      subtype: Nullable(Type.String()),
      eol_product: Nullable(Type.String()),
      eol_label: NullableText('The label of the product; null if it is unknown'),
      eol_cycle: Nullable(Type.String()),
      status: Choice(['eol', 'approaching', 'supported', 'unknown']),
      source: Choice(
        ['manual', 'api'],
        '`api`: the linked release cycle; `manual`: the lifecycle of the card',
      ),
      ends_on: Nullable(DateOnly),
      days_left: Nullable(Type.Integer({ description: 'Until `ends_on`; negative if it has passed' })),
      cycle_data: Nullable(object({ releaseDate: Nullable(DateOnly), support: dateOrFlag, eol: dateOrFlag })),
      lifecycle: Nullable(Type.Record(Type.String(), Type.String())),
      affected_apps: Type.Array(App),
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
        pattern: '^(eol|approaching|supported|unknown)(,(eol|approaching|supported|unknown))*$',
        maxLength: 100,
        description: 'Only items of these statuses, comma-separated; the summary counts all',
        examples: ['eol,approaching'],
      }),
    ),
  },
  result: Result,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: false },
  topics: () => ['cards', 'relations', EOL_TOPIC],
  isDaily: true,
  async compute({ sql, ctx, params, cards, asOf }) {
    const { days, status } = params as { days: number; status?: string };
    const seen = visibleCards(ctx);
    const relationTypes = may(ctx.caller, 'relations.view') ? ctx.metamodel.visibleRelationTypes : [];
    const today = asOf.toISOString().slice(0, 10);
    const statuses = status === undefined ? null : status.split(',');
    // the end of the linked cycle takes precedence; cards are scanned once, and relations are looked up for the found cards
    return await query(sql).value`with asked as (select ${today}::date as today, ${days}::int as days),
      linked as materialized (
        select c.id, c.name, c.type, c.subtype, c.lifecycle,
          nullif(c.attributes ->> '${embed(EOL_PRODUCT)}', '') as product, nullif(c.attributes ->> '${embed(EOL_CYCLE)}', '') as cycle,
          ${embed(phase('phaseOut'))} as phase_out, ${embed(phase('endOfLife'))} as end_of_life
        from cards c
        where c.type = any(${typesOfProducts(ctx.metamodel)}::text[])
          and (nullif(c.attributes ->> '${embed(EOL_PRODUCT)}', '') is not null
            or nullif(c.lifecycle ->> 'phaseOut', '') is not null or nullif(c.lifecycle ->> 'endOfLife', '') is not null)
          and (${embed(cards)})
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
      ),
      uses as materialized (
        select distinct j.id, c.id as app_id, c.name as app_name
        from judged j join relations r on r.target_id = j.id and r.type = any(${relationTypes}::text[])
          join cards c on c.id = r.source_id
        where j.type = 'ITComponent' and c.type = 'Application' and c.status = 'ACTIVE' and (${embed(seen)})
        union
        select distinct j.id, c.id, c.name
        from judged j join relations r on r.source_id = j.id and r.type = any(${relationTypes}::text[])
          join cards c on c.id = r.target_id
        where j.type = 'ITComponent' and c.type = 'Application' and c.status = 'ACTIVE' and (${embed(seen)})
      ),
      apps as (
        select id, json_agg(json_build_object('id', app_id, 'name', app_name) order by app_name, app_id) as list
        from uses group by id
      ),
      impact as (
        select count(distinct u.app_id) filter (where j.status = 'eol') as now,
               count(distinct u.app_id) filter (where j.status = 'approaching') as soon
        from uses u join judged j using (id)
      )
      select json_build_object(
        'items', coalesce((
          select json_agg(json_build_object(
              'id', j.id, 'name', j.name, 'type', j.type, 'subtype', j.subtype, 'eol_product', j.product,
              'eol_label', j.label, 'eol_cycle', j.cycle, 'status', j.status, 'source', j.source, 'ends_on', j.ends_on,
              'days_left', j.days_left,
              'cycle_data', case when j.found then json_build_object('releaseDate', j.release_date,
                'support', coalesce(to_jsonb(j.support_until), to_jsonb(j.is_supported)),
                'eol', coalesce(to_jsonb(j.eol_from), to_jsonb(j.is_eol))) end,
              'lifecycle', j.lifecycle, 'affected_apps', coalesce(a.list, '[]'))
            order by j.ends_on nulls last, j.name, j.id)
          from judged j left join apps a using (id)
          cross join (select ${statuses}::text[] as statuses) s
          where s.statuses is null or j.status = any(s.statuses)), '[]'),
        'summary', (
          select json_build_object(
            'eol', count(*) filter (where status = 'eol'), 'approaching', count(*) filter (where status = 'approaching'),
            'supported', count(*) filter (where status = 'supported'),
            'unknown', count(*) filter (where status = 'unknown'),
            'impacted_apps', (select now from impact), 'approaching_impacted_apps', (select soon from impact),
            'manual', count(*) filter (where source = 'manual'))
          from judged))::text as result`;
  },
  chart: (result, _params, context) => eolChart(result, context),
  tables: (result) => [itemsTable(result), appsTable(result), figuresTable('summary', result.summary)],
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
    items.map((item) => ({ ...item, affected_apps: item.affected_apps.length })),
  );

const appsTable = ({ items }: Result): ReportTable =>
  reportTable(
    'affected_apps',
    { id: 'key', name: 'text', status: 'key', ends_on: 'date', app_id: 'key', app_name: 'text' },
    items.flatMap((item) =>
      item.affected_apps.map((app) => ({ ...item, app_id: app.id, app_name: app.name })),
    ),
  );

const statusOrder = ['eol', 'approaching', 'supported', 'unknown'];

/** Bars per product, stacked by status; cards without a product are grouped by type. */
function eolChart({ items, summary }: Result, { metamodel }: ChartContext): Chart {
  const rows = new Map<string, number[]>();
  for (const { type, eol_product, eol_label, status, source } of items) {
    const label = metamodel.cardTypes.get(type)?.label ?? type;
    const name = source === 'manual' || !eol_product ? `${label} by lifecycle` : (eol_label ?? eol_product);
    const values = rows.get(name) ?? statusOrder.map(() => 0);
    values[statusOrder.indexOf(status)]! += 1;
    rows.set(name, values);
  }
  const urgency = ([ended, soon]: number[]) => ended! + soon!;
  return {
    kind: 'bars',
    title: 'End of life by product',
    note: `${summary.eol} past the end, used by ${summary.impacted_apps} applications; ${summary.approaching} approaching, used by ${summary.approaching_impacted_apps}`,
    itemAxis: 'Product',
    valueAxis: 'Cards',
    unit: 'count',
    series: ['Ended', 'Approaching', 'Supported', 'Unknown'],
    items: [...rows]
      .map(([name, values]) => ({ name, values }))
      .sort((a, b) => urgency(b.values) - urgency(a.values) || (a.name < b.name ? -1 : 1)),
  };
}
