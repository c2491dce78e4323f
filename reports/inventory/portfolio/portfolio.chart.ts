import {
  type ChartContext,
  fieldAxis,
  fieldLabel,
  fieldUnit,
  optionLabel,
  placeOnAxis,
} from '../../kernel/charts/charts.labels.ts';
import type { BubblesChart, Chart } from '../../kernel/charts/charts.types.ts';

interface Params {
  type: string;
  x_axis: string;
  y_axis: string;
  size_field: string;
  color_field: string;
}

interface Item {
  name: string;
  x: unknown;
  y: unknown;
  size: number | null;
  color: unknown;
}

/** A circle for each card that has a place on both axes; the largest first, so that small ones lie above. */
export function portfolioChart(items: Item[], params: Params, context: ChartContext): Chart {
  const { type } = params;
  const placed = items.flatMap((item): BubblesChart['items'] => {
    const x = placeOnAxis(context, type, params.x_axis, item.x);
    const y = placeOnAxis(context, type, params.y_axis, item.y);
    if (x === undefined || y === undefined) return [];
    const group =
      typeof item.color === 'string' ? optionLabel(context, type, params.color_field, item.color) : 'Not set';
    return [{ name: item.name, x, y, group, ...(item.size === null ? {} : { size: item.size }) }];
  });
  return {
    kind: 'bubbles',
    title: `Portfolio: ${context.metamodel.cardTypes.get(type)?.label ?? type}`,
    ...(placed.length < items.length
      ? { note: `Not drawn: ${items.length - placed.length} that lack a value on an axis` }
      : {}),
    x: fieldAxis(context, type, params.x_axis),
    y: fieldAxis(context, type, params.y_axis),
    size: {
      name: fieldLabel(context, type, params.size_field),
      unit: fieldUnit(context, type, params.size_field),
    },
    groupAxis: fieldLabel(context, type, params.color_field),
    items: placed.sort((a, b) => (b.size ?? 0) - (a.size ?? 0)),
  };
}
