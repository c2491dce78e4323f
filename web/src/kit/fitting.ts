import { pictureOf } from '../../../reports/kernel/charts/charts.draw.ts';
import type { Look } from '../../../reports/kernel/charts/charts.marks.ts';
import type { Chart, SingleChart } from '../../../reports/kernel/charts/charts.types.ts';

/** In less height no panel is drawn. */
const LEAST_PANEL = 160;

/** Fewer rows say too little. */
const FEWEST = 2;

/** The rows or boxes of a chart. */
function rowsOf(chart: Chart & { kind: 'bars' | 'boxes' | 'matrix' | 'roadmap' }): number {
  if (chart.kind === 'boxes') return chart.boxes.length;
  return chart.kind === 'matrix' ? chart.rows.length : chart.items.length;
}

/** A chart without the panels or rows that a height has no room for; the picture says how many rows are left out. */
export function fitting(chart: Chart, look: Look, height: number): Chart {
  const drawn = pictureOf(chart, look).height;
  if (drawn <= height) return chart;
  // drawn anew only a few times, however many rows there are
  const fewer = (rows: number) => Math.max(FEWEST, Math.min(rows - 1, Math.floor((rows * height) / drawn)));
  switch (chart.kind) {
    case 'panels': {
      const [first, ...others] = chart.panels;
      if (others.length === 0) return fitting({ ...first!, title: chart.title }, look, height);
      const before = { ...chart, panels: chart.panels.slice(0, -1) };
      const room = height - pictureOf(before, look).height;
      if (room < LEAST_PANEL) return fitting(before, look, height);
      const inner = { ...look, width: look.width - 2 * look.margin, isPanel: true };
      const last = {
        ...(fitting(chart.panels.at(-1)!, inner, room - look.margin) as SingleChart),
        wide: true,
      };
      const whole = { ...chart, panels: [...before.panels, last] };
      return pictureOf(whole, look).height <= height ? whole : fitting(before, look, height);
    }
    case 'bars':
    case 'boxes':
    case 'matrix':
    case 'roadmap': {
      const rows = Math.min(rowsOf(chart), chart.most ?? Number.MAX_SAFE_INTEGER);
      return rows <= FEWEST ? chart : fitting({ ...chart, most: fewer(rows) }, look, height);
    }
    case 'figures':
      return chart.items.length <= FEWEST
        ? chart
        : fitting({ ...chart, items: chart.items.slice(0, fewer(chart.items.length)) }, look, height);
    case 'graph': {
      const { nodes, edges, total = nodes.length } = chart;
      if (nodes.length <= FEWEST) return chart;
      // the first ones are the nearest or most related
      const kept = nodes.slice(0, fewer(nodes.length));
      const ids = new Set(kept.map(({ id }) => id));
      const between = edges.filter(({ source, target }) => ids.has(source) && ids.has(target));
      return fitting({ ...chart, nodes: kept, edges: between, total }, look, height);
    }
    case 'list': {
      const { rows, total = rows.length } = chart;
      return rows.length <= FEWEST
        ? chart
        : fitting({ ...chart, rows: rows.slice(0, fewer(rows.length)), total }, look, height);
    }
    default:
      return chart;
  }
}
