import type { Chart } from './charts.types.ts';

/** A chart without some entries of its legend: their series, groups or phases. */
export function without(chart: Chart, hidden: readonly string[]): Chart {
  if (hidden.length === 0) return chart;
  const isShown = (name: string | undefined) => name === undefined || !hidden.includes(name);
  switch (chart.kind) {
    case 'panels':
      return {
        ...chart,
        panels: chart.panels.map((panel) => ({ ...panel, ...without(panel, hidden) })) as typeof chart.panels,
      };
    case 'bubbles':
      return { ...chart, items: chart.items.filter(({ group }) => isShown(group)) };
    case 'bars': {
      const kept = chart.series.flatMap((name, at) => (isShown(name) ? [at] : []));
      return {
        ...chart,
        series: kept.map((at) => chart.series[at]!),
        ...(chart.paints && { paints: kept.map((at) => chart.paints![at]!) }),
        items: chart.items.map((item) => ({ ...item, values: kept.map((at) => item.values[at] ?? null) })),
      };
    }
    case 'columns': {
      const kept = chart.series.flatMap(({ name }, at) => (isShown(name) ? [at] : []));
      return {
        ...chart,
        series: kept.map((at) => chart.series[at]!),
        items: chart.items.map((item) => ({ ...item, values: kept.map((at) => item.values[at] ?? 0) })),
      };
    }
    case 'lines':
      return { ...chart, series: chart.series.filter(({ name }) => isShown(name)) };
    case 'roadmap':
      return {
        ...chart,
        items: chart.items.filter(({ dates }) => {
          const phase = dates.findLastIndex((date) => date !== null && date <= chart.today);
          return isShown(chart.phases[phase]?.name);
        }),
      };
    default:
      return chart;
  }
}
