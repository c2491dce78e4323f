import { PassThrough, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import { EstateError } from '../../../platform/errors.ts';
import type { Answered } from '../../../platform/worker-threads.ts';
import { reportNamed } from '../../reports.catalogue.ts';
import type { Chart, ChartWorkspace } from '../charts/charts.types.ts';
import type { DocumentFormat, PrintDocument } from '../documents/document.types.ts';
import { tableNamed, writeReportCsv, writeReportXlsx } from '../report.formats.ts';
import { parseReport } from '../report.lines.ts';
import type { RenderAnswer, Rendering } from './rendering.types.ts';

/** Maximum bytes of a result that is parsed at once: as objects it needs ten times this memory. */
const MOST_BYTES = 128 * 1024 * 1024;

/**
 * Renders a file or a chart.
 * @throws EstateError 422 naming the available tables, `query_too_heavy` for a result that is too large.
 */
async function makeRendering(rendering: Rendering): Promise<Buffer> {
  if ('paper' in rendering) return await renderDocument(rendering.make, rendering.paper);
  if (rendering.make === 'chart') return await draw(rendering.chart, rendering.workspace);
  const { params } = rendering;
  const report = reportNamed(rendering.report);
  const body = Buffer.from(rendering.body.buffer, rendering.body.byteOffset, rendering.body.byteLength);
  const isWhole = rendering.make === 'picture' || report.long === undefined;
  if (isWhole && body.length > MOST_BYTES) {
    throw new EstateError('query_too_heavy', 'The report is too large for this format; use a filter.');
  }
  if (rendering.make === 'picture') {
    const chart = report.chart!(JSON.parse(body.toString()), params, rendering.context);
    return await draw(chart, rendering.workspace);
  }
  const tables = report.tables(parseReport(report, body), params);
  return rendering.make === 'csv'
    ? await collect((out) => writeReportCsv(tableNamed(tables, rendering.table), out))
    : await collect((out) => writeReportXlsx(tables, out));
}

/** Loads the charting library with the first chart. */
async function draw(chart: Chart, workspace: ChartWorkspace): Promise<Buffer> {
  const { drawChart } = await import('../charts/charts.draw.ts');
  return Buffer.from(drawChart(chart, workspace));
}

/** Loads the document libraries with the first document of each format. */
async function renderDocument(format: DocumentFormat, paper: PrintDocument): Promise<Buffer> {
  if (format === 'docx') return await (await import('../documents/document.docx.ts')).writeDocx(paper);
  return await (await import('../documents/document.pdf.ts')).writePdf(paper);
}

async function collect(write: (out: Writable) => Promise<void>): Promise<Buffer> {
  const out = new PassThrough();
  const [bytes] = await Promise.all([buffer(out), write(out)]);
  return bytes;
}

/** Worker thread that renders files and charts of reports. */
parentPort!.on('message', async (rendering: Rendering) => {
  try {
    const made = await makeRendering(rendering);
    // a small buffer is part of the shared pool and cannot be transferred
    const bytes = made.byteLength === made.buffer.byteLength ? made : Uint8Array.from(made);
    answer({ bytes: bytes as Uint8Array<ArrayBuffer> }, [bytes.buffer as ArrayBuffer]);
  } catch (error) {
    if (error instanceof EstateError) {
      answer({ refused: { code: error.code, detail: error.message, errors: error.errors } });
    } else {
      answer({ failed: error instanceof Error ? error.message : String(error) });
    }
  }
});

function answer(given: RenderAnswer, transferred: ArrayBuffer[] = []): void {
  parentPort!.postMessage({ answer: given } satisfies Answered<RenderAnswer>, transferred);
}
