import { lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { type ChartContext, phaseLabels, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import type { Lifecycle } from '../../kernel/report.sql.ts';

/** A row of phases for each card, those that begin first above. */
export function roadmapChart(
  items: { name: string; lifecycle: Lifecycle }[],
  type: string | undefined,
  context: ChartContext,
): Chart {
  const rows = items.map(({ name, lifecycle }) => ({
    name,
    dates: lifecyclePhases.map((phase) => lifecycle?.[phase] ?? null),
  }));
  const begin = ({ dates }: (typeof rows)[number]) => dates.find((date) => date !== null) ?? '';
  return {
    kind: 'roadmap',
    title: type === undefined ? 'Roadmap' : `Roadmap: ${typeLabel(context, type)}`,
    itemAxis: type === undefined ? 'Card' : typeLabel(context, type),
    phases: phaseLabels,
    today: context.today,
    items: rows.sort((a, b) => (begin(a) < begin(b) ? -1 : begin(a) > begin(b) ? 1 : 0)),
  };
}
