import Type from 'typebox';
import { Lifecycle as CardLifecycle } from '../../../domain/inventory/cards/cards.model.ts';
import { arrayOf, Nullable, OpenObject, OptionalText, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import {
  type ChartContext,
  noValue,
  optionLegend,
  phaseKeys,
  phaseLegend,
  typeLabel,
  typeNames,
  typePaint,
  typePlural,
  WELL_FILLED,
} from '../../kernel/charts/charts.labels.ts';
import type { Chart, RoadmapChart } from '../../kernel/charts/charts.types.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { checkOptionField, choices, optionFields, typeOf } from '../../kernel/report.params.ts';
import { idKey } from '../../kernel/report.rows.ts';
import { jsonLine, type Lifecycle, lifecycleKinds, withPhases } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, pagedReportSchema } from '../../kernel/report.ts';

const Result = pagedReportSchema('RoadmapReport', {
  items: arrayOf({
    id: Uuid,
    name: Type.String(),
    type: Type.String(),
    subtype: Nullable(Type.String()),
    lifecycle: Nullable(CardLifecycle),
    attributes: OpenObject,
  }),
  undated: Type.Integer({ description: 'Number of cards without a lifecycle date, which `items` omits' }),
});

/** The lifecycles of cards, for a roadmap. */
export const roadmapReport = defineReport({
  name: 'roadmap',
  id: 'readRoadmapReport',
  summary: 'Read the lifecycles of cards',
  description: 'Every card with a lifecycle date, of one type or of all.',
  permission: 'reports.ea_dashboard',
  params: {
    type: OptionalText(100, 'Key of a card type; default: all types', choices({ of: 'types' })),
    group_by: OptionalText(
      100,
      'Select field of the type that groups the picture; default: a filled one, without `type` the type',
      optionFields(),
    ),
  },
  result: Result,
  reads: { cards: 'any', others: false },
  typeParams: ['type'],
  check(ctx, { type, group_by }) {
    if (group_by === undefined) return;
    if (type === undefined) throw invalidField('group_by', 'unknown_value', 'needs `type`');
    checkOptionField(ctx, 'group_by', typeOf(ctx, 'type', type), group_by);
  },
  topics: ({ type }) => [type === undefined ? 'cards' : `cards:${type}`],
  async compute({ sql, rows, ctx, params, cards }) {
    const types = params.type === undefined ? undefined : [params.type];
    const item = jsonLine({
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      type: { text: 'c.type' },
      subtype: { text: 'c.subtype' },
      lifecycle: { json: 'c.lifecycle' },
      attributes: { json: reportAttributes(ctx, types) },
    });
    const ofType = params.type === undefined ? fragment`` : fragment`c.type = ${params.type} and`;
    const items = await rows({
      from: fragment`cards c where ${embed(ofType)} c.lifecycle <> '{}' and ${embed(cards)}`,
      keys: [idKey],
      line: item,
    });
    const undated = await query(sql).value<number>`select count(*) from cards c
      where ${embed(ofType)} (c.lifecycle <> '{}') is not true and ${embed(cards)}`;
    return ['{"items":[\n', items, `\n],"undated":${undated}}`];
  },
  isPaged: true,
  long: 'items',
  tables: ({ items }) => [
    reportTable(
      'items',
      { id: 'key', name: 'text', type: 'key', subtype: 'key', ...lifecycleKinds } as const,
      Iterator.from(items).map(withPhases),
    ),
  ],
  chart: (result, params, context) => roadmapChart(result, params, context),
});

interface Drawn {
  id: string;
  name: string;
  type: string;
  subtype: string | null;
  lifecycle: Lifecycle;
  attributes: Record<string, unknown>;
}

/** One row of phases per card, by type; the cards of one type by the select field that groups them best. */
function roadmapChart(
  { items, undated }: { items: Iterable<Drawn>; undated: number },
  { type, group_by }: { type?: string; group_by?: string },
  context: ChartContext,
): Chart {
  const cards = [...items];
  const grouping = type === undefined ? byType(cards, context) : byField(cards, type, group_by, context);
  return {
    kind: 'roadmap',
    title:
      type === undefined
        ? reportText(context, 'roadmap.title')
        : reportText(context, 'roadmap.ofType', typeNames(context, type)),
    ...(cards.length === 0
      ? { empty: reportText(context, 'roadmap.empty') }
      : {
          note: grouping
            ? reportText(context, 'roadmap.grouped', { count: cards.length, undated, group: grouping.name })
            : reportText(context, 'roadmap.note', { count: cards.length, undated }),
        }),
    itemAxis: type === undefined ? reportText(context, 'axis.card') : typeLabel(context, type),
    phases: phaseLegend(context).slice(0, phaseKeys.length),
    today: context.today,
    items: cards.map((card) => ({
      id: card.id,
      name: card.name,
      dates: phaseKeys.map((phase) => card.lifecycle?.[phase] ?? null),
      ...(grouping ? { group: grouping.of(card) } : {}),
    })),
    ...(grouping ? { groups: grouping.groups, groupAxis: grouping.name } : {}),
  };
}

interface Grouping {
  name: string;
  of(card: Drawn): string;
  groups: NonNullable<RoadmapChart['groups']>;
}

function byType(cards: Drawn[], context: ChartContext): Grouping {
  const keys = new Set(cards.map(({ type }) => type));
  const groups = [...context.metamodel.cardTypes.keys()]
    .filter((key) => keys.has(key))
    .map((key) => ({ key, name: typePlural(context, key), paint: typePaint(context, key) }));
  return { name: reportText(context, 'roadmap.type'), of: ({ type }) => type, groups };
}

/** Fields by which a roadmap is grouped, in this order. */
const GROUP_FIELDS = ['timeModel', 'businessCriticality', 'resourceClassification', 'initiativeStatus'];

function byField(
  cards: Drawn[],
  type: string,
  asked: string | undefined,
  context: ChartContext,
): Grouping | undefined {
  const field =
    asked ??
    GROUP_FIELDS.find(
      (key) =>
        cards.filter(({ attributes }) => typeof attributes[key] === 'string').length >
        cards.length * WELL_FILLED,
    );
  if (field === undefined) return bySubtype(cards, type, context);
  const options = optionLegend(context, type, field);
  const known = new Set(options.map(({ key }) => key));
  return {
    name: context.metamodel.cardTypes.get(type)?.fields.get(field)?.label ?? field,
    of: ({ attributes }) => (known.has(String(attributes[field])) ? String(attributes[field]) : ''),
    groups: [...options, { key: '', name: noValue(context), paint: 'others' }],
  };
}

function bySubtype(cards: Drawn[], type: string, context: ChartContext): Grouping | undefined {
  if (new Set(cards.map(({ subtype }) => subtype)).size < 2) return undefined;
  const subtypes = context.metamodel.cardTypes.get(type)?.subtypes ?? [];
  return {
    name: reportText(context, 'roadmap.subtype'),
    of: ({ subtype }) => subtype ?? '',
    groups: [
      ...subtypes.map(({ key, label }) => ({ key, name: label })),
      { key: '', name: noValue(context) },
    ],
  };
}
