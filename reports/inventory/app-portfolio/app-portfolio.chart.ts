import { type ChartContext, phaseLabels, phaseOn, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import type { Lifecycle } from '../../kernel/report.sql.ts';

interface Item {
  lifecycle: Lifecycle;
  organizations: { id: string; name: string }[];
}

const NONE = 'No organization';

/** A bar for each organization with the cards that are related to it, parted by the phase that they are in. */
export function appPortfolioChart(items: Iterable<Item>, type: string, context: ChartContext): Chart {
  const phases = [...phaseLabels, 'Not begun', 'No lifecycle'];
  const bars = new Map<string, { name: string; values: number[] }>();
  for (const { lifecycle, organizations } of items) {
    const phase = phases.indexOf(phaseOn(lifecycle, context.today));
    for (const { id, name } of organizations.length > 0 ? organizations : [{ id: NONE, name: NONE }]) {
      const bar = bars.get(id) ?? { name, values: phases.map(() => 0) };
      bar.values[phase]! += 1;
      bars.set(id, bar);
    }
  }
  const used = phases.map((_, phase) => [...bars.values()].some(({ values }) => values[phase]! > 0));
  const size = ({ values }: { values: number[] }) => values.reduce((sum, value) => sum + value, 0);
  return {
    kind: 'bars',
    title: `${typeLabel(context, type)}: by organization and phase`,
    itemAxis: 'Organization',
    valueAxis: 'Cards',
    unit: 'count',
    series: phases.filter((_, phase) => used[phase]),
    items: [...bars.values()]
      .sort((a, b) => size(b) - size(a))
      .map(({ name, values }) => ({ name, values: values.filter((_, phase) => used[phase]) })),
  };
}
