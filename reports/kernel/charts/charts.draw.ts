import { BarChart, CustomChart, GraphChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  GraphicComponent,
  GridComponent,
  MarkLineComponent,
  TitleComponent,
  VisualMapComponent,
} from 'echarts/components';
import { init, setPlatformAPI, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { escapeMarkup } from '../../../platform/xml.ts';
import { layoutBars } from './charts.bars.ts';
import { layoutBubbles } from './charts.bubbles.ts';
import { layoutFigures } from './charts.figures.ts';
import { layoutGraph } from './charts.graph.ts';
import { layoutLines } from './charts.lines.ts';
import { layoutMatrix } from './charts.matrix.ts';
import { withNote } from './charts.parts.ts';
import { layoutRoadmap } from './charts.roadmap.ts';
import { plain, textWidth } from './charts.text.ts';
import { BACKGROUND_COLOR, FONT_SIZE, MARGIN, WIDTH } from './charts.theme.ts';
import { layoutTreemap } from './charts.treemap.ts';
import type { Chart, ChartWorkspace, Layout, SingleChart } from './charts.types.ts';

use([
  BarChart,
  CustomChart,
  GraphChart,
  GraphicComponent,
  GridComponent,
  HeatmapChart,
  LineChart,
  MarkLineComponent,
  ScatterChart,
  SVGRenderer,
  TitleComponent,
  VisualMapComponent,
]);

// without fonts the library cannot measure text: use the same estimates as the layouts
setPlatformAPI({
  measureText: (text, font) => ({
    width: textWidth(text, Number(/(\d+)px/.exec(font ?? '')?.[1] ?? FONT_SIZE)),
  }),
});

/** The layout of each kind of chart. */
const layouts: {
  [K in SingleChart['kind']]: (chart: SingleChart & { kind: K }, workspace: ChartWorkspace) => Layout;
} = {
  bars: layoutBars,
  treemap: layoutTreemap,
  matrix: layoutMatrix,
  bubbles: layoutBubbles,
  roadmap: layoutRoadmap,
  graph: layoutGraph,
  lines: layoutLines,
  figures: layoutFigures,
};

const layout = <K extends SingleChart['kind']>(chart: SingleChart & { kind: K }, workspace: ChartWorkspace) =>
  layouts[chart.kind](chart, workspace);

interface Drawing {
  width: number;
  height: number;
  /** Content of the `svg` element. */
  body: string;
  description: string;
}

/** Draws a chart as a self-contained SVG 1.1 document, without scripts, external fonts or styles. */
export function drawChart(chart: Chart, workspace: ChartWorkspace): string {
  if (chart.kind !== 'panels') return documentOf(chart.title, draw(chart, workspace, 0));
  const drawings = chart.panels.map((panel, index) => draw(panel, workspace, index));
  let y = 0;
  const parts = drawings.map(({ width, height, body }, index) => {
    const name = escapeMarkup(plain(chart.panels[index]!.title));
    const part = `<svg x="0" y="${y}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><title>${name}</title>${body}</svg>`;
    y += height + MARGIN;
    return part;
  });
  return documentOf(chart.title, {
    width: Math.max(WIDTH, ...drawings.map(({ width }) => width)),
    height: y,
    body: parts.join('\n'),
    description: drawings.map(({ description }) => description).join('. '),
  });
}

function documentOf(title: string, { width, height, body, description }: Drawing): string {
  const name = escapeMarkup(plain(title));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}">
<title>${name}</title>
<desc>${escapeMarkup(plain(description))}</desc>
<rect width="${width}" height="${height}" fill="${BACKGROUND_COLOR}"/>
${body}
</svg>
`;
}

function draw(given: SingleChart, workspace: ChartWorkspace, panel: number): Drawing {
  const chart = isEmpty(given) ? { ...given, note: withNote(given.note, 'Nothing to show')! } : given;
  const { width, height, option, shortened, description } = layout(chart, workspace);
  const instance = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    instance.setOption({ animation: false, ...option });
    const body = stripInteractiveParts(instance.renderToSVGString(), panel);
    return { width, height, body: addFullTexts(body, shortened), description };
  } finally {
    instance.dispose();
  }
}

/** Whether there is no data, which the note states: an empty frame could be mistaken for an error. */
function isEmpty(chart: SingleChart): boolean {
  switch (chart.kind) {
    case 'matrix':
      return chart.rows.length === 0 || chart.columns.length === 0;
    case 'graph':
      return chart.nodes.length === 0;
    case 'lines':
      return chart.times.length === 0;
    default:
      return chart.items.length === 0;
  }
}

/**
 * Removes interactive parts, and makes ids depend only on the chart. Texts do not match the patterns, since quotes in them
 * are escaped as entities.
 */
function stripInteractiveParts(svg: string, panel: number): string {
  return svg
    .replace(/^<svg[^>]*>\s*/, '')
    .replace(/\s*<\/svg>\s*$/, '')
    .replace(/<style[^>]*>[\s\S]*?<\/style>\s*/g, '')
    .replace(/<rect [^>]*fill="none"><\/rect>\s*/, '')
    .replace(/ (?:class|pointer-events|xml:space)="[^"]*"/g, '')
    .replace(/(id="|url\(#|xlink:href="#|href="#)zr\d+-/g, `$1p${panel}-`);
}

/** Adds the complete text as `title` to each truncated text. */
function addFullTexts(svg: string, shortened: Map<string, string[]>): string {
  if (shortened.size === 0) return svg;
  const left = new Map([...shortened].map(([short, whole]) => [escapeMarkup(short), [...whole]]));
  return svg.replace(/(<text[^>]*>)([^<]*)(<\/text>)/g, (all, open: string, text: string, close: string) => {
    const whole = left.get(text)?.shift();
    return whole === undefined ? all : `${open}<title>${escapeMarkup(whole)}</title>${text}${close}`;
  });
}
