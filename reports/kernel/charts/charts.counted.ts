import { type ChartContext, fieldLabel, optionLabel, typeLabel } from './charts.labels.ts';
import type { BarsChart } from './charts.types.ts';

/** Bars of the cards of a type by the options of a field, in the order of the options; other values come last. */
export function countedBars(
  context: ChartContext,
  type: string,
  key: string,
  counts: Record<string, number>,
): BarsChart {
  const options = [...(context.metamodel.cardTypes.get(type)?.fields.get(key)?.optionLabels.keys() ?? [])];
  const place = (value: string) => (options.includes(value) ? options.indexOf(value) : options.length);
  const label = fieldLabel(context, type, key);
  return {
    kind: 'bars',
    title: `${typeLabel(context, type)} by ${label}`,
    itemAxis: label,
    valueAxis: 'Cards',
    unit: 'count',
    series: ['Cards'],
    items: Object.entries(counts)
      .sort(([one], [other]) => place(one) - place(other))
      .map(([value, count]) => ({
        name: value === 'unknown' ? 'not set' : optionLabel(context, type, key, value),
        values: [count],
      })),
  };
}
