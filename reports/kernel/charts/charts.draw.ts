import { layoutBars } from './charts.bars.ts';
import { layoutBoxes } from './charts.boxes.ts';
import { layoutBubbles } from './charts.bubbles.ts';
import { layoutColumns } from './charts.columns.ts';
import { layoutFigures } from './charts.figures.ts';
import { layoutGraph } from './charts.graph.ts';
import { layoutLines } from './charts.lines.ts';
import { layoutList } from './charts.list.ts';
import { lookOf } from './charts.look.ts';
import { type Look, type Mark, moved, type Picture } from './charts.marks.ts';
import { layoutMatrix } from './charts.matrix.ts';
import { heading } from './charts.parts.ts';
import { layoutRoadmap } from './charts.roadmap.ts';
import { svgOf } from './charts.svg.ts';
import { radius } from './charts.tokens.ts';
import { layoutTreemap } from './charts.treemap.ts';
import type { Chart, ChartOptions, ChartWorkspace, SingleChart } from './charts.types.ts';

/** The definition of each kind of chart: from data to marks. */
const layouts: { [K in SingleChart['kind']]: (chart: SingleChart & { kind: K }, look: Look) => Picture } = {
  bars: layoutBars,
  columns: layoutColumns,
  boxes: layoutBoxes,
  treemap: layoutTreemap,
  matrix: layoutMatrix,
  bubbles: layoutBubbles,
  roadmap: layoutRoadmap,
  graph: layoutGraph,
  lines: layoutLines,
  figures: layoutFigures,
  list: layoutList,
};

const layout = <K extends SingleChart['kind']>(chart: SingleChart & { kind: K }, look: Look): Picture =>
  layouts[chart.kind](chart, look);

/** Width from which two panels stand next to each other. */
const TWO = 900;
const GAP = 16;

/** The marks of a chart. */
export function pictureOf(chart: Chart, look: Look): Picture {
  return chart.kind === 'panels' ? panelsOf(chart, look) : layout(chart, look);
}

/** Draws a chart as a self-contained SVG 1.1 document, without scripts, external fonts or styles. */
export function drawChart(chart: Chart, workspace: ChartWorkspace, options: ChartOptions = {}): string {
  const look = lookOf(workspace, options);
  return svgOf(pictureOf(chart, look), chart.title, look.scheme.panel);
}

/** Panels below each other, narrow ones in pairs. */
function panelsOf(chart: Chart & { kind: 'panels' }, look: Look): Picture {
  const { width, margin, scheme } = look;
  const head = heading(look, chart);
  const columns = width >= TWO ? 2 : 1;
  const room = width - 2 * margin;
  const half = (room - GAP) / 2;
  const marks: Mark[] = [...head.marks];
  const descriptions: string[] = [];
  const bottoms = Array.from({ length: columns }, () => head.bottom);
  for (const panel of chart.panels) {
    const isWide = columns === 1 || panel.wide || panel.kind === 'figures';
    const isBare = panel.kind === 'figures';
    const wide = isWide ? room : half;
    // bare panels have no frame, so their content is aligned with the others
    const picture = layout(panel, {
      ...look,
      width: isBare ? room + 2 * margin : wide,
      margin: isBare ? margin : 16,
      isPanel: true,
    });
    const at = isWide ? 0 : bottoms.indexOf(Math.min(...bottoms));
    const top = isWide ? Math.max(...bottoms) : bottoms[at]!;
    const x = isBare ? 0 : margin + at * (half + GAP);
    const y = isBare ? top - margin + 4 : top;
    if (!isBare) {
      marks.push({
        kind: 'rect',
        x,
        y,
        width: wide,
        height: picture.height,
        radius: radius.panel,
        fill: scheme.panel,
        stroke: scheme.hairlineStrong,
      });
    }
    marks.push(...picture.marks.map((mark) => moved(mark, x, y)));
    const bottom = y + picture.height + (isBare ? 0 : GAP);
    if (isWide) bottoms.fill(bottom);
    else bottoms[at] = bottom;
    descriptions.push(picture.description);
  }
  return { width, height: Math.max(...bottoms) - GAP + margin, marks, description: descriptions.join(' ') };
}
