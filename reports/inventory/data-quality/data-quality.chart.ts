import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';

interface Answer {
  overall_data_quality: number;
  total_items: number;
  by_type: { type: string; total: number; complete: number; partial: number; minimal: number }[];
}

/** Bars of the cards of each type, parted by how complete they are. */
export const dataQualityChart = (
  { by_type, overall_data_quality, total_items }: Answer,
  context: ChartContext,
): Chart => ({
  kind: 'bars',
  title: 'Data quality by type',
  note: `${overall_data_quality} % on average over ${total_items} cards`,
  itemAxis: 'Type',
  valueAxis: 'Cards',
  unit: 'count',
  series: ['Complete', 'Partial', 'Minimal'],
  items: by_type
    .toSorted((a, b) => b.total - a.total)
    .map(({ type, complete, partial, minimal }) => ({
      name: typeLabel(context, type),
      values: [complete, partial, minimal],
    })),
});
