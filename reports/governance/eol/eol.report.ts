import Type, { type Static } from 'typebox';
import { EOL_TOPIC } from '../../../domain/governance/eol/eol.model.ts';
import { visibleCards } from '../../../domain/inventory/cards/cards.visible.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../../domain/kernel/metamodel/eol.fields.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { arrayOf, Choice, DateOnly, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { queryValue } from '../../../platform/database.ts';
import type { ChartContext } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { figuresTable, reportTable } from '../../kernel/report.formats.ts';
import { reportSchema } from '../../kernel/report.schema.ts';
import { defineReport, type ReportTable } from '../../kernel/report.ts';

const dateOrFlag = Type.Union([DateOnly, Type.Boolean(), Type.Null()]);
const App = object({ id: Uuid, name: Type.String() });

const Answer = reportSchema('EolReport', {
  items: arrayOf(
    {
      id: Uuid,
      name: Type.String(),
      type: Type.String(),
      subtype: Nullable(Type.String()),
      eol_product: Nullable(Type.String()),
      eol_label: Nullable(
        Type.String({ description: 'What people call the product; null where nothing is known of it' }),
      ),
      eol_cycle: Nullable(Type.String()),
      status: Choice(['eol', 'approaching', 'supported', 'unknown']),
      source: Type.Union([Type.Literal('manual'), Type.Literal('api')], {
        description: '`api`: the linked release cycle; `manual`: the lifecycle of the card',
      }),
      ends_on: Nullable(DateOnly),
      days_left: Nullable(Type.Integer({ description: 'Until `ends_on`; negative when it has passed' })),
      cycle_data: Nullable(object({ releaseDate: Nullable(DateOnly), support: dateOrFlag, eol: dateOrFlag })),
      lifecycle: Nullable(Type.Record(Type.String(), Type.String())),
      affected_apps: Type.Array(App),
    },
    { description: 'The first to end first' },
  ),
  summary: object({
    eol: Type.Integer(),
    approaching: Type.Integer(),
    supported: Type.Integer(),
    unknown: Type.Integer(),
    impacted_apps: Type.Integer({ description: 'Applications that use something whose end has come' }),
    approaching_impacted_apps: Type.Integer({
      description: 'Applications that use something whose end approaches',
    }),
    manual: Type.Integer({ description: 'Items whose source is `manual`' }),
  }),
});
type Answer = Static<typeof Answer>;

/** Days from the report's date on in which an end counts as approaching, unless asked otherwise. */
const DAYS = 180;

interface Params {
  days: number;
}

/**
 * The cards of which it is known when they end: through the release cycle that they are linked to, or else through
 * their own lifecycle; with what depends on them. Facts about products are today's, also with `as_of`.
 */
export const eolReport = defineReport({
  name: 'eol',
  id: 'readEolReport',
  summary: 'Read what reaches the end of its life, and who depends on it',
  description:
    'Applications and IT components that are linked to a release cycle, and those whose lifecycle tells of a phase-out or an end. `eol`: the end has come; `approaching`: it comes within `days`, or the phase-out has begun; `unknown`: linked, and nothing is known of the end. `source` is `api` where the linked cycle decides, `manual` where the lifecycle does. `affected_apps` are the applications that use an IT component; they are not told without relations.view.',
  permission: 'reports.ea_dashboard',
  params: {
    days: Type.Integer({
      minimum: 0,
      maximum: 36_500,
      default: DAYS,
      description: 'How many days before its end a card counts as approaching it',
    }),
    status: Type.Optional(
      Type.String({
        pattern: '^(eol|approaching|supported|unknown)(,(eol|approaching|supported|unknown))*$',
        maxLength: 100,
        description: 'Only items of these statuses, comma-separated; the summary counts all',
        examples: ['eol,approaching'],
      }),
    ),
  },
  answer: Answer,
  timeTravel: true,
  reads: { cards: 'any', relations: ['type', 'source_id', 'target_id'], others: false },
  dependsOn: (topic) => /^(cards:|relations:|metamodel$)/.test(topic) || topic === EOL_TOPIC,
  variant: (ctx) => `${may(ctx.caller, 'relations.view')} ${new Date().toISOString().slice(0, 10)}`,
  async compute({ sql, ctx, params, cards, asOf }) {
    const { days, status } = params as Params & { status?: string };
    const seen = visibleCards(ctx);
    const relationTypes = may(ctx.caller, 'relations.view') ? ctx.metamodel.visibleRelationTypes : [];
    const today = asOf.toISOString().slice(0, 10);
    return await queryValue(sql, ITEMS(cards.sql, seen.sql), [
      today,
      days,
      typesOfProducts(ctx.metamodel),
      ...cards.bindings,
      relationTypes,
      ...seen.bindings,
      relationTypes,
      ...seen.bindings,
      status === undefined ? null : status.split(','),
    ]);
  },
  chart: (answer, _params, context) => eolChart(answer, context),
  tables: (answer) => [itemsTable(answer), appsTable(answer), figuresTable('summary', answer.summary)],
});

/** Types whose cards stand for products. */
const typesOfProducts = ({ cardTypes, visibleTypes }: Metamodel): string[] =>
  visibleTypes.filter((key) => cardTypes.get(key)!.fields.has(EOL_PRODUCT));

/** A phase of the lifecycle as a date; null for what is none, as the columns of old rows may hold it. */
const phase = (key: string) => `nullif(c.lifecycle ->> '${key}', '')::date`;

/**
 * Dates decide by what is nearest to them: a cycle's end, then the lifecycle. Cards are gone through once; relations are
 * looked up for the cards that are found.
 */
const ITEMS = (cards: string, seen: string): string => `
  with asked as (select ?::date as today, ?::int as days),
  linked as materialized (
    select c.id, c.name, c.type, c.subtype, c.lifecycle,
      nullif(c.attributes ->> '${EOL_PRODUCT}', '') as product, nullif(c.attributes ->> '${EOL_CYCLE}', '') as cycle,
      ${phase('phaseOut')} as phase_out, ${phase('endOfLife')} as end_of_life
    from cards c
    where c.type = any(?::text[])
      and (nullif(c.attributes ->> '${EOL_PRODUCT}', '') is not null
        or nullif(c.lifecycle ->> 'phaseOut', '') is not null or nullif(c.lifecycle ->> 'endOfLife', '') is not null)
      and (${cards})
  ),
  known as (
    select l.*, p.label, y.product is not null as found, y.release_date, y.eol_from, y.is_eol, y.support_until, y.is_supported,
      y.eol_from is not null or y.is_eol is not null as tells,
      l.phase_out is not null or l.end_of_life is not null as planned
    from linked l left join eol_products p on p.name = l.product
      left join eol_cycles y on y.product = l.product and y.cycle = l.cycle
  ),
  dated as (
    select k.*, case when tells or not planned then 'api' else 'manual' end as source,
      case when tells then eol_from when planned then end_of_life end as ends_on
    from known k
  ),
  judged as materialized (
    select d.*,
      case when source = 'api' and not tells then 'unknown'
           when ends_on <= today or (tells and eol_from is null and is_eol) then 'eol'
           when ends_on <= today + days then 'approaching'
           when source = 'manual' and phase_out <= today then 'approaching'
           else 'supported' end as status,
      ends_on - today as days_left
    from dated d, asked
  ),
  uses as materialized (
    select distinct j.id, c.id as app_id, c.name as app_name
    from judged j join relations r on r.target_id = j.id and r.type = any(?::text[])
      join cards c on c.id = r.source_id
    where j.type = 'ITComponent' and c.type = 'Application' and c.status = 'ACTIVE' and (${seen})
    union
    select distinct j.id, c.id, c.name
    from judged j join relations r on r.source_id = j.id and r.type = any(?::text[])
      join cards c on c.id = r.target_id
    where j.type = 'ITComponent' and c.type = 'Application' and c.status = 'ACTIVE' and (${seen})
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
      cross join (select ?::text[] as statuses) s
      where s.statuses is null or j.status = any(s.statuses)), '[]'),
    'summary', (
      select json_build_object(
        'eol', count(*) filter (where status = 'eol'), 'approaching', count(*) filter (where status = 'approaching'),
        'supported', count(*) filter (where status = 'supported'),
        'unknown', count(*) filter (where status = 'unknown'),
        'impacted_apps', (select now from impact), 'approaching_impacted_apps', (select soon from impact),
        'manual', count(*) filter (where source = 'manual'))
      from judged))::text as answer`;

const itemsTable = ({ items }: Answer): ReportTable =>
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

const appsTable = ({ items }: Answer): ReportTable =>
  reportTable(
    'affected_apps',
    { id: 'key', name: 'text', status: 'key', ends_on: 'date', app_id: 'key', app_name: 'text' },
    items.flatMap((item) =>
      item.affected_apps.map((app) => ({ ...item, app_id: app.id, app_name: app.name })),
    ),
  );

const statuses = ['eol', 'approaching', 'supported', 'unknown'];

/** Bars of the cards of each product, parted by status; those whose lifecycle decides are named by their type. */
function eolChart({ items, summary }: Answer, { metamodel }: ChartContext): Chart {
  const rows = new Map<string, number[]>();
  for (const { type, eol_product, eol_label, status, source } of items) {
    const label = metamodel.cardTypes.get(type)?.label ?? type;
    const name = source === 'manual' || !eol_product ? `${label} by lifecycle` : (eol_label ?? eol_product);
    const values = rows.get(name) ?? statuses.map(() => 0);
    values[statuses.indexOf(status)]! += 1;
    rows.set(name, values);
  }
  const urgency = ([ended, soon]: number[]) => ended! + soon!;
  return {
    kind: 'bars',
    title: 'End of life by product',
    note: `${summary.eol} ended with ${summary.impacted_apps} applications, ${summary.approaching} approaching with ${summary.approaching_impacted_apps}`,
    itemAxis: 'Product',
    valueAxis: 'Cards',
    unit: 'count',
    series: ['Ended', 'Approaching', 'Supported', 'Unknown'],
    items: [...rows]
      .map(([name, values]) => ({ name, values }))
      .sort((a, b) => urgency(b.values) - urgency(a.values) || (a.name < b.name ? -1 : 1)),
  };
}
