import type { ChartContext } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';

interface Answer {
  items: {
    type: string;
    eol_product: string | null;
    eol_label: string | null;
    status: string;
    source: string;
  }[];
  summary: { eol: number; approaching: number; impacted_apps: number; approaching_impacted_apps: number };
}

const statuses = ['eol', 'approaching', 'supported', 'unknown'];

/** Bars of the cards of each product, parted by status; those whose lifecycle decides are named by their type. */
export function eolChart({ items, summary }: Answer, { metamodel }: ChartContext): Chart {
  const rows = new Map<string, number[]>();
  for (const { type, eol_product, eol_label, status, source } of items) {
    const label = metamodel.cardTypes.get(type)?.label ?? type;
    const name = source === 'manual' || !eol_product ? `${label} by lifecycle` : (eol_label ?? eol_product);
    const values = rows.get(name) ?? statuses.map(() => 0);
    values[statuses.indexOf(status)]! += 1;
    rows.set(name, values);
  }
  const urgency = ([ended, soon]: number[]) => ended! + soon!;
  return {
    kind: 'bars',
    title: 'End of life by product',
    note: `${summary.eol} ended with ${summary.impacted_apps} applications, ${summary.approaching} approaching with ${summary.approaching_impacted_apps}`,
    itemAxis: 'Product',
    valueAxis: 'Cards',
    unit: 'count',
    series: ['Ended', 'Approaching', 'Supported', 'Unknown'],
    items: [...rows]
      .map(([name, values]) => ({ name, values }))
      .sort((a, b) => urgency(b.values) - urgency(a.values) || (a.name < b.name ? -1 : 1)),
  };
}
