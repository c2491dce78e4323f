import {
  type ChartContext,
  decapitalised,
  fieldLabel,
  noValue,
  optionLegend,
  typeLabel,
  typePlural,
  WELL_FILLED,
  worseOptions,
  worstFirst,
} from '../../kernel/charts/charts.labels.ts';
import type { Box, BoxesChart, BoxItem, Chart, ChartUnit, Paint } from '../../kernel/charts/charts.types.ts';
import { reportText } from '../../kernel/report.texts.ts';
import type { CapabilityItem, HeatmapParams } from './capability-heatmap.model.ts';
import { APP, CAPABILITY } from './capability-heatmap.sql.ts';

const units: Record<HeatmapParams['metric'], ChartUnit> = {
  app_count: 'count',
  total_cost: 'currency',
  risk_count: 'count',
};

/** One box per capability in that of its parent: by the metric, or by a field of its applications and a rule. */
export function capabilityHeatmapChart(
  items: CapabilityItem[],
  {
    metric,
    color_field: asked,
    roll_up: rolledUp,
    rule = metric === 'app_count' ? 'worst' : 'sum',
  }: HeatmapParams,
  context: ChartContext,
): Chart {
  const apps = new Map(items.flatMap((item) => item.apps.map((app) => [app.id, app])));
  const field = rule === 'sum' ? undefined : colourField([...apps.values()], asked);
  const capabilities = typePlural(context, CAPABILITY);
  const note = reportText(context, 'capabilities.note', { count: items.length, apps: apps.size });
  const member: [string, string] = [
    reportText(context, 'member.application'),
    reportText(context, 'member.applications'),
  ];
  const chart = {
    kind: 'boxes',
    itemAxis: typeLabel(context, CAPABILITY),
    member,
    rolledUp,
    gaps: true,
  } as const;
  if (!field || rule === 'sum') {
    const name = reportText(context, `capabilities.${metric}`);
    const shares = shareOf(metric, context);
    return {
      ...chart,
      title: reportText(context, 'title.by', { what: capabilities, field: decapitalised(name, context) }),
      note,
      boxes: items.map(
        (item): Box => ({
          ...boxOf(item, (app) => (shares ? { value: shares(app) } : {})),
          value: item[metric] ?? 0,
        }),
      ),
      scale: { name, unit: units[metric] },
    };
  }
  const label = fieldLabel(context, APP, field.key);
  const head = {
    ...chart,
    title: reportText(context, 'title.by', { what: capabilities, field: decapitalised(label, context) }),
    note: reportText(context, 'capabilities.ruled', {
      note,
      rule: reportText(context, `capabilities.${rule}`),
      field: label,
      filled: field.filled,
      total: apps.size,
    }),
  };
  return rule === 'worst'
    ? { ...head, legendAxis: label, ...worstBoxes(items, field.key, context) }
    : { ...head, ...meanBoxes(items, field.key, rule, context) };
}

/** Boxes in the colour of the worst option of their applications. */
function worstBoxes(
  items: readonly CapabilityItem[],
  key: string,
  context: ChartContext,
): Pick<BoxesChart, 'boxes' | 'legend'> {
  const legend = [
    ...optionLegend(context, APP, key),
    { key: '', name: noValue(context), paint: 'others' as const },
  ];
  const paints = new Map<string, Paint>(legend.map((option) => [option.key, option.paint]));
  const paintOf = (value: unknown): Paint => paints.get(typeof value === 'string' ? value : '') ?? 'others';
  const order = worstFirst(context, APP, key);
  // the worst ones first, since they decide
  const rank = ({ attributes }: SupportingApp) => {
    const at = order.indexOf(String(attributes[key]));
    return at < 0 ? order.length : at;
  };
  const boxes = items.map((item): Box => {
    const sorted = { ...item, apps: item.apps.toSorted((a, b) => rank(a) - rank(b)) };
    const box = boxOf(sorted, ({ attributes }) => ({ paint: paintOf(attributes[key]) }));
    return item.apps.length === 0 ? box : { ...box, paint: paintOf(order[rank(sorted.apps[0]!)]) };
  });
  return { boxes, legend };
}

/** Boxes shaded by the mean option of their applications, or by the share of those with one of the worse half. */
function meanBoxes(
  items: readonly CapabilityItem[],
  key: string,
  rule: 'mean' | 'share',
  context: ChartContext,
): Pick<BoxesChart, 'boxes' | 'scale' | 'mean'> {
  const order = worstFirst(context, APP, key);
  const costOf = shareOf('total_cost', context)!;
  const partOf = (app: SupportingApp): Partial<BoxItem> => {
    const place = order.indexOf(String(app.attributes[key])) + 1;
    if (place === 0) return {};
    if (rule === 'mean') return { value: place, weight: Math.max(0, costOf(app)) };
    return { value: place <= worseOptions(order) ? 100 : 0 };
  };
  const scale: BoxesChart['scale'] =
    rule === 'mean'
      ? { name: reportText(context, 'capabilities.meanScale'), unit: 'number' }
      : { name: reportText(context, 'capabilities.shareScale'), unit: 'percent' };
  return { boxes: items.map((item) => boxOf(item, partOf)), scale, mean: true };
}

type SupportingApp = CapabilityItem['apps'][number];

const boxOf = (
  { id, name, parent_id, apps }: CapabilityItem,
  partOf: (app: SupportingApp) => Partial<BoxItem>,
): Box => ({
  id,
  name,
  parent_id,
  items: apps.map((app) => ({ id: app.id, name: app.name, ...partOf(app) })),
});

/** What an application adds to the metric of a capability, if that is the sum over its applications. */
function shareOf(
  metric: HeatmapParams['metric'],
  { metamodel }: ChartContext,
): ((app: SupportingApp) => number) | undefined {
  if (metric === 'app_count') return () => 1;
  if (metric === 'risk_count') return undefined;
  const costs = [...(metamodel.cardTypes.get(APP)?.fields ?? [])].filter(([, { type }]) => type === 'cost');
  return ({ attributes }) => costs.reduce((sum, [key]) => sum + (Number(attributes[key]) || 0), 0);
}

/** Fields by which applications are judged; the first one that is filled colours the boxes, as on the map. */
const FIT_FIELDS = ['technicalSuitability', 'functionalSuitability', 'businessCriticality'];

/** The requested field, else the first one that enough applications have. */
function colourField(
  cards: readonly { attributes: Record<string, unknown> }[],
  asked: string | undefined,
): { key: string; filled: number } | undefined {
  const known = (asked === undefined ? FIT_FIELDS : [asked]).map((key) => ({
    key,
    filled: cards.filter(({ attributes }) => typeof attributes[key] === 'string').length,
  }));
  return known.find(({ filled }) => asked !== undefined || filled > cards.length * WELL_FILLED);
}
