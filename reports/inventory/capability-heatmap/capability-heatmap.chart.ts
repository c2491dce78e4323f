import { areasOf } from '../../kernel/charts/charts.areas.ts';
import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart, ChartUnit } from '../../kernel/charts/charts.types.ts';

type Metric = 'app_count' | 'total_cost' | 'risk_count';

interface Item {
  id: string;
  name: string;
  parent_id: string | null;
  app_count: number;
  total_cost?: number;
  risk_count?: number;
}

const meanings: Record<Metric, { name: string; unit: ChartUnit }> = {
  app_count: { name: 'Applications', unit: 'count' },
  total_cost: { name: 'Cost of applications', unit: 'currency' },
  risk_count: { name: 'Risks', unit: 'count' },
};

/** A tile for each capability in the area of the topmost above it, shaded by the metric. */
export function capabilityHeatmapChart(items: Item[], metric: Metric, context: ChartContext): Chart {
  const areas = areasOf(items);
  const { name, unit } = meanings[metric];
  return {
    kind: 'treemap',
    title: `${typeLabel(context, 'BusinessCapability')} by ${name.toLowerCase()}`,
    note: 'Each tile is a capability, in the area of the topmost above it',
    valueAxis: 'capabilities',
    unit: 'count',
    even: true,
    shadeAxis: name,
    shadeUnit: unit,
    items: items.map((item) => ({
      name: item.name,
      value: 1,
      group: areas.of(item),
      shade: item[metric] ?? 0,
    })),
    groups: areas.groups,
  };
}
