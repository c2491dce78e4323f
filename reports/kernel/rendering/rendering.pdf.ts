import { createRequire } from 'node:module';
import type { PictureOptions } from '../../../domain/inventory/reports/report.options.ts';
import { pictureOf } from '../charts/charts.draw.ts';
import { lookOf } from '../charts/charts.look.ts';
import { formatDate } from '../charts/charts.numbers.ts';
import { svgOf } from '../charts/charts.svg.ts';
import { chartText } from '../charts/charts.texts.ts';
import type { Chart, ChartWorkspace } from '../charts/charts.types.ts';
import type { PdfMaker } from '../documents/document.pdf.ts';
import { fontFiles, hasOtherScripts, pngOf } from './rendering.png.ts';
import type { SlideNotes } from './rendering.types.ts';

const load = createRequire(import.meta.url);

/** The page in points: A4 across; higher for a picture that needs it. */
const PAGE = { width: 841.89, height: 595.28, margin: 28, head: 42, foot: 24 };
/** The largest page of PDF readers, in points. */
const MOST_HEIGHT = 14_400;

/** A page for each picture of a chart, as vectors. Pictures with letters that the font does not have are pixels. */
export async function writePages(
  chart: Chart,
  { workspace, options, notes }: { workspace: ChartWorkspace; options: PictureOptions; notes: SlideNotes },
): Promise<Buffer> {
  const look = lookOf(workspace, options);
  const { scheme } = look;
  const hasPanels = chart.kind === 'panels';
  const pictures = (hasPanels ? chart.panels : [chart]).map((one) => {
    const picture = pictureOf({ ...one, title: '' }, { ...look, isPanel: hasPanels });
    const title = hasPanels && one.title !== '' ? `${chart.title}: ${one.title}` : chart.title;
    return { title, ...picture, svg: svgOf(picture, title, scheme.panel) };
  });
  const room = PAGE.width - 2 * PAGE.margin;
  const around = 2 * PAGE.margin + PAGE.head + PAGE.foot;
  const highest = Math.max(0, ...pictures.map(({ width, height }) => (height * room) / width));
  const height = Math.min(MOST_HEIGHT, Math.max(PAGE.height, highest + around));
  const asOf = chartText(workspace, 'slides.asOf', { date: formatDate(Date.parse(notes.day), workspace) });
  const at = new Date(`${notes.day}T00:00:00Z`);
  const small = { fontSize: 8.5, color: scheme.text2 };
  const definition = {
    pageSize: { width: PAGE.width, height },
    pageMargins: [PAGE.margin, PAGE.margin, PAGE.margin, PAGE.margin + PAGE.foot],
    info: { title: chart.title, creator: 'Estate', producer: 'Estate', creationDate: at, modDate: at },
    language: workspace.language ?? 'en',
    defaultStyle: { font: 'Inter', fontSize: 10, color: scheme.text },
    background: () => ({
      canvas: [{ type: 'rect', x: 0, y: 0, w: PAGE.width, h: height, color: scheme.panel }],
    }),
    footer: (page: number, pages: number) => ({
      columns: [
        { text: asOf, ...small },
        { text: `${page} / ${pages}`, alignment: 'right', ...small },
      ],
      margin: [PAGE.margin, 10, PAGE.margin, 0],
    }),
    content: pictures.flatMap(({ title, svg, ...size }, place) => [
      { text: title, fontSize: 15, bold: true, ...(place > 0 ? { pageBreak: 'before' } : {}) },
      { text: notes.line || ' ', ...small, margin: [0, 2, 0, 6] },
      { ...drawn(svg), fit: [room, Math.min(height - around, (size.height * room) / size.width)] },
    ]),
  };
  return await maker().createPdf(definition).getBuffer();
}

/** The library with the font of charts; nothing is loaded from the network. */
function maker(): PdfMaker {
  const pdfmake: PdfMaker = load('pdfmake');
  const [regular, , bold] = fontFiles;
  pdfmake.setFonts({ Inter: { normal: regular, bold, italics: regular, bolditalics: bold } });
  pdfmake.setLocalAccessPolicy((path) => fontFiles.includes(path));
  pdfmake.setUrlAccessPolicy(() => false);
  return pdfmake;
}

/** A text with a halo: the library draws a stroke over the letters, so that they are drawn again. */
const HALO =
  /<text ([^>]*?)( stroke="[^"]*" stroke-width="3" stroke-linejoin="round" paint-order="stroke")>(.*?)<\/text>/g;

function drawn(svg: string): { svg: string } | { image: string } {
  if (hasOtherScripts(svg)) return { image: `data:image/png;base64,${pngOf(svg).toString('base64')}` };
  return {
    svg: svg.replace(/<title>[^<]*<\/title>/g, '').replace(HALO, '<text $1$2>$3</text><text $1>$3</text>'),
  };
}
