import { heading } from './charts.parts.ts';
import { axisTitle, formatCount, formatValue, Labels } from './charts.text.ts';
import { colour, MARGIN, OTHERS, PALETTE, PAPER, WIDTH } from './charts.theme.ts';
import type { ChartWorkspace, DonutChart, Layout } from './charts.types.ts';

const SIZE = 280;

/** A ring; names, values and shares are in the legend, where they cannot overlap. */
export function layoutDonut(chart: DonutChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const parts = partsOf(chart);
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  const head = heading(
    { title: chart.title, note: chart.note ?? axisTitle(chart.valueAxis, chart.unit, workspace) },
    parts.map(({ name, value, color }) => {
      const share = total > 0 ? Math.round((value / total) * 1000) / 10 : 0;
      return { name: `${name}: ${formatValue(value, chart.unit, workspace)} (${share} %)`, color };
    }),
    labels,
    WIDTH,
  );
  return {
    width: WIDTH,
    height: head.bottom + SIZE + MARGIN,
    shortened: labels.shortened,
    description: `Shares of ${chart.valueAxis} of ${chart.items.length} items`,
    option: {
      ...head.option,
      series: [
        {
          type: 'pie',
          center: [WIDTH / 2, head.bottom + SIZE / 2],
          radius: [SIZE * 0.28, SIZE * 0.48],
          label: { show: false },
          labelLine: { show: false },
          stillShowZeroSum: false,
          data: parts.map(({ name, value, color }) => ({
            name,
            value,
            itemStyle: { color, borderColor: PAPER, borderWidth: 2 },
          })),
        },
      ],
    },
  };
}

/** The largest parts, and the others combined. */
function partsOf({ items }: DonutChart): { name: string; value: number; color: string }[] {
  const kept = items.length > PALETTE.length ? items.slice(0, PALETTE.length - 1) : items;
  const rest = items.slice(kept.length);
  const parts = kept.map(({ name, value }, index) => ({ name, value, color: colour(index) }));
  if (rest.length === 0) return parts;
  const value = rest.reduce((sum, item) => sum + item.value, 0);
  return [...parts, { name: `${formatCount(rest.length)} others`, value, color: OTHERS }];
}
