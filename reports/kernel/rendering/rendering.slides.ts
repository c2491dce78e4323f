import type { PictureOptions } from '../../../domain/inventory/reports/report.options.ts';
import { pictureOf } from '../charts/charts.draw.ts';
import { lookOf } from '../charts/charts.look.ts';
import type { Picture } from '../charts/charts.marks.ts';
import { formatDate } from '../charts/charts.numbers.ts';
import { svgOf } from '../charts/charts.svg.ts';
import { chartText } from '../charts/charts.texts.ts';
import type { Chart, ChartWorkspace } from '../charts/charts.types.ts';
import { cellText } from '../formats/cells.ts';
import type { Cell, Column } from '../formats/formats.types.ts';
import { filledShare, SLIDE_ROWS, type Slide, type SlideTable, writePptx } from '../formats/pptx.ts';
import type { ReportTable } from '../report.ts';
import { pngOf } from './rendering.png.ts';
import type { SlideNotes } from './rendering.types.ts';

/** The most slides of a table, and its columns. */
const MOST_SLIDES = 5;
const MOST_COLUMNS = 8;

/** A slide for each picture of a chart, and slides with the first rows of its table. */
export async function writeSlides(
  chart: Chart,
  { workspace, options, notes }: { workspace: ChartWorkspace; options: PictureOptions; notes: SlideNotes },
  table?: ReportTable,
): Promise<Buffer> {
  const look = lookOf(workspace, options);
  const { scheme } = look;
  const footer = chartText(workspace, 'slides.asOf', {
    date: formatDate(Date.parse(notes.day), workspace),
  });
  const hasPanels = chart.kind === 'panels';
  const slides = (hasPanels ? chart.panels : [chart]).map((one): Slide => {
    const picture = filling({ ...one, title: '' }, { ...look, isPanel: hasPanels }, options);
    const { width, height, description } = picture;
    const png = pngOf(svgOf(picture, one.title, scheme.panel));
    return {
      title: hasPanels && one.title !== '' ? `${chart.title}: ${one.title}` : chart.title,
      line: notes.line,
      content: { png, width, height, description },
      footer,
    };
  });
  if (table) slides.push(...tableSlides(chart.title, notes.line, footer, table, workspace));
  return await writePptx(slides, {
    background: scheme.panel,
    text: scheme.text,
    faint: scheme.text2,
    line: scheme.hairlineStrong,
    fill: scheme.sunken,
    language: workspace.language ?? 'en',
  });
}

/** Widths in which pictures of slides are drawn, in pixels. */
const WIDTHS = [600, 800, 1_000, 1_200, 1_400, 1_600, 2_000, 2_400];

/** The picture in the width in which it fills most of a slide; a requested width stays. */
function filling(chart: Chart, look: ReturnType<typeof lookOf>, { width }: PictureOptions): Picture {
  if (width !== undefined) return pictureOf(chart, look);
  const drawn = WIDTHS.map((width) => pictureOf(chart, { ...look, width }));
  return drawn.reduce((best, one) => (filledShare(one) > filledShare(best) ? one : best));
}

/** Whether a column is for people. */
const isShown = ({ header, type }: Column): boolean => !(type === 'key' && /(?:^|_)id$/.test(header));

/** The cells of days and times, as ISO 8601. */
const isDay = ({ type }: Column): boolean => type === 'date' || type === 'datetime';

function tableSlides(
  title: string,
  line: string,
  day: string,
  { columns, rows }: ReportTable,
  workspace: ChartWorkspace,
): Slide[] {
  const candidates = columns.map((column, at) => ({ ...column, at })).filter(isShown);
  const shown = candidates.slice(0, MOST_COLUMNS);
  const texts: string[][] = [];
  let isCut = candidates.length > MOST_COLUMNS;
  for (const row of rows) {
    if (texts.length === MOST_SLIDES * SLIDE_ROWS) {
      isCut = true;
      break;
    }
    texts.push(shown.map((column) => textOf(row[column.at], column, workspace)));
  }
  const slides: Slide[] = [];
  for (let from = 0; from < texts.length && shown.length > 0; from += SLIDE_ROWS) {
    const part = texts.slice(from, from + SLIDE_ROWS);
    const content: SlideTable = {
      columns: shown.map(({ header, type }) => ({ name: header, right: type === 'number' })),
      rows: part,
    };
    const about = chartText(workspace, 'slides.rows', { from: from + 1, to: from + part.length });
    const cut = { rows: texts.length, columns: shown.length };
    const footer = [day, about, ...(isCut ? [chartText(workspace, 'slides.cut', cut)] : [])].join(' · ');
    slides.push({ title, line, content, footer });
  }
  return slides;
}

function textOf(cell: Cell, column: Column, workspace: ChartWorkspace): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'string' && isDay(column)) return formatDate(Date.parse(cell), workspace);
  if (typeof cell === 'boolean') return chartText(workspace, cell ? 'axis.yes' : 'axis.no');
  if (typeof cell === 'number')
    return cell.toLocaleString(workspace.language ?? 'en', { maximumFractionDigits: 2 });
  return cellText(cell);
}
