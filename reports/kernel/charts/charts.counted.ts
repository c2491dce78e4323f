import {
  type ChartContext,
  decapitalised,
  fieldLabel,
  noValue,
  optionLegend,
  typePlural,
} from './charts.labels.ts';
import { chartText } from './charts.texts.ts';
import type { BarsChart, Paint } from './charts.types.ts';

/**
 * Bars of the cards of a type by the options of a field, in their order and colours; other values come last.
 * @param without names the cards without a value, counted as `unknown`.
 */
export function countedBars(
  context: ChartContext,
  type: string,
  key: string,
  counts: Record<string, number>,
  without: string = noValue(context),
): BarsChart {
  const options = optionLegend(context, type, key);
  const place = (value: string) => {
    const at = options.findIndex((option) => option.key === value);
    return value === 'unknown' ? options.length + 1 : at < 0 ? options.length : at;
  };
  const paintOf = (value: string): Paint =>
    options.find((option) => option.key === value)?.paint ?? (value === 'unknown' ? 'none' : 'others');
  const label = fieldLabel(context, type, key);
  return {
    kind: 'bars',
    title: chartText(context, 'counted.title', {
      types: typePlural(context, type),
      field: decapitalised(label, context),
    }),
    itemAxis: label,
    valueAxis: chartText(context, 'cards'),
    unit: 'count',
    series: [chartText(context, 'cards')],
    items: Object.entries(counts)
      .sort(([one], [other]) => place(one) - place(other))
      .map(([value, count]) => ({
        name: options.find((option) => option.key === value)?.name ?? (value === 'unknown' ? without : value),
        values: [count],
        paint: paintOf(value),
      })),
  };
}
