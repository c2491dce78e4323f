import { PassThrough, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import { EstateError } from '../../../platform/errors.ts';
import type { Answered } from '../../../platform/worker-threads.ts';
import { reportNamed } from '../../reports.catalogue.ts';
import type { Chart, ChartWorkspace } from '../charts/charts.types.ts';
import type { DocumentFormat, PrintDocument } from '../documents/document.types.ts';
import { tableNamed, writeReportCsv, writeReportXlsx } from '../report.formats.ts';
import { answerOf } from '../report.lines.ts';
import type { RenderAnswer, Rendering } from './rendering.types.ts';

/** Of an answer that is read at once: as objects it takes ten times as much, of the memory of the whole process. */
const MOST_BYTES = 128 * 1024 * 1024;

/**
 * Makes a file or a picture.
 * @throws EstateError 422 naming the tables that there are, `query_too_heavy` for an answer that has no room.
 */
async function makeRendering(rendering: Rendering): Promise<Buffer> {
  if ('paper' in rendering) return await printed(rendering.make, rendering.paper);
  if (rendering.make === 'chart') return await draw(rendering.chart, rendering.workspace);
  const { params } = rendering;
  const report = reportNamed(rendering.report);
  const body = Buffer.from(rendering.body.buffer, rendering.body.byteOffset, rendering.body.byteLength);
  const isWhole = rendering.make === 'picture' || report.long === undefined;
  if (isWhole && body.length > MOST_BYTES) {
    throw new EstateError('query_too_heavy', 'The answer is too large for this form; narrow it by a filter.');
  }
  if (rendering.make === 'picture') {
    const chart = report.chart!(JSON.parse(body.toString()), params, rendering.context);
    return await draw(chart, rendering.workspace);
  }
  const tables = report.tables(answerOf(report, body), params);
  return rendering.make === 'csv'
    ? await collect((out) => writeReportCsv(tableNamed(tables, rendering.table), out))
    : await collect((out) => writeReportXlsx(tables, out));
}

/** The charting library is loaded by the first picture: files need none. */
async function draw(chart: Chart, workspace: ChartWorkspace): Promise<Buffer> {
  const { drawChart } = await import('../charts/charts.draw.ts');
  return Buffer.from(drawChart(chart, workspace));
}

/** The libraries of documents are loaded by the first of each kind. */
async function printed(format: DocumentFormat, paper: PrintDocument): Promise<Buffer> {
  if (format === 'docx') return await (await import('../documents/document.docx.ts')).writeDocx(paper);
  return await (await import('../documents/document.pdf.ts')).writePdf(paper);
}

async function collect(write: (out: Writable) => Promise<void>): Promise<Buffer> {
  const out = new PassThrough();
  const [bytes] = await Promise.all([buffer(out), write(out)]);
  return bytes;
}

/** Reads answers and makes files and pictures of them beside the thread that answers requests. */
parentPort!.on('message', async (rendering: Rendering) => {
  try {
    const made = await makeRendering(rendering);
    // a short one lies in memory that others share, which cannot be handed over
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

function answer(given: RenderAnswer, handedOver: ArrayBuffer[] = []): void {
  parentPort!.postMessage({ answer: given } satisfies Answered<RenderAnswer>, handedOver);
}
