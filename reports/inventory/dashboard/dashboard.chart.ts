import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { type ChartContext, phaseLabels, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { BarsChart, Chart } from '../../kernel/charts/charts.types.ts';
import type { Figures } from '../kpis/kpis.figures.ts';

const bars = (title: string, itemAxis: string, items: [name: string, count: number][]): BarsChart => ({
  kind: 'bars',
  title,
  itemAxis,
  valueAxis: 'Cards',
  unit: 'count',
  series: ['Cards'],
  items: items.map(([name, count]) => ({ name, values: [count] })),
});

/** The key figures, and how the cards are spread. */
export function dashboardChart(figures: Figures, context: ChartContext): Chart {
  const approved = figures.approval_statuses.APPROVED ?? 0;
  const phases = lifecyclePhases.map((phase, index): [string, number] => [
    phaseLabels[index]!,
    figures.lifecycle_distribution[phase] ?? 0,
  ]);
  return {
    kind: 'panels',
    title: 'Dashboard',
    panels: [
      {
        kind: 'figures',
        title: 'Landscape',
        items: [
          { name: 'Cards', value: figures.total_cards, unit: 'count' },
          { name: 'Data quality on average', value: figures.avg_data_quality, unit: 'percent' },
          { name: 'Approved', value: approved, unit: 'count' },
          { name: 'Approval broken', value: figures.approval_statuses.BROKEN ?? 0, unit: 'count' },
        ],
      },
      bars(
        'Cards by type',
        'Type',
        Object.entries(figures.by_type)
          .sort(([, a], [, b]) => b - a)
          .map(([type, count]) => [typeLabel(context, type), count]),
      ),
      bars('Cards by phase', 'Phase', [...phases, ['None', figures.lifecycle_distribution.none ?? 0]]),
      bars('Cards by data quality', 'Data quality (%)', Object.entries(figures.data_quality_distribution)),
    ],
  };
}
