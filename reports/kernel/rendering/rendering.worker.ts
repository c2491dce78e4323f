import { PassThrough, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { isPicture } from '../../../domain/inventory/reports/report.options.ts';
import { EstateError } from '../../../platform/errors.ts';
import { answerRequests } from '../../../platform/worker-threads.ts';
import { reportNamed } from '../../reports.catalogue.ts';
import { drawChart } from '../charts/charts.draw.ts';
import type { Chart } from '../charts/charts.types.ts';
import type { DocumentFormat, PrintDocument } from '../documents/document.types.ts';
import { writeChunks } from '../formats/chunk-streams.ts';
import { rowsTable, tablesOf, writeTables } from '../report.formats.ts';
import { labelledColumns, labelledTable } from '../report.labels.ts';
import { parseReport } from '../report.lines.ts';
import { paramsLine } from '../report.rendering.ts';
import type { ReportTable } from '../report.ts';
import type { Rendering, RenderResult } from './rendering.types.ts';

/** Maximum bytes of a result that is parsed at once: as objects it needs ten times this memory. */
const MOST_BYTES = 128 * 1024 * 1024;

/**
 * Renders a file or a chart.
 * @throws EstateError 422 naming the available tables, `query_too_heavy` for a result that is too large.
 */
async function makeRendering(rendering: Rendering): Promise<Buffer> {
  if ('paper' in rendering) return await renderDocument(rendering.make, rendering.paper);
  if ('chart' in rendering) return await draw(rendering.chart, rendering);
  const { params, format, table, look, said } = rendering;
  const report = reportNamed(rendering.report);
  const body = Buffer.from(rendering.body.buffer, rendering.body.byteOffset, rendering.body.byteLength);
  const isWhole = isPicture(format) || report.long === undefined;
  if (isWhole && body.length > MOST_BYTES) {
    throw new EstateError('query_too_heavy', 'The report is too large for this format; use a filter.');
  }
  if (isPicture(format)) {
    const result = JSON.parse(body.toString());
    const { context, ...how } = look!;
    const chart = report.chart!(result, params, context);
    const notes = { line: paramsLine(said, context), day: context.today };
    return await draw(chart, { ...how, format, notes }, () => {
      const [first] = report.tables(result, params);
      return first && labelledTable(first, params, context);
    });
  }
  const all = report.tables(parseReport(report, body), params);
  const tables = tablesOf(format === 'rows' ? 'csv' : format, all, table).map((one) =>
    look ? { ...one, columns: labelledColumns(one.columns, params, look.context) } : one,
  );
  if (format === 'rows') return await collect((out) => writeChunks(rowLines(tables[0]!), out, undefined));
  return await collect((out) => writeTables(format, tables.map(rowsTable), out));
}

async function* rowLines({ columns, rows }: ReportTable): AsyncGenerator<string> {
  yield JSON.stringify(columns);
  for (const row of rows) yield `\n${JSON.stringify(row)}`;
}

/** Draws a chart; the library for PNG is loaded with the first one. @param table that of slides. */
async function draw(
  chart: Chart,
  { format, ...how }: Omit<Extract<Rendering, { chart: Chart }>, 'chart'>,
  table?: () => ReportTable | undefined,
): Promise<Buffer> {
  if (format === 'chart') return Buffer.from(JSON.stringify(chart));
  if (format === 'pptx')
    return await (await import('./rendering.slides.ts')).writeSlides(chart, how, table?.());
  if (format === 'pdf') return await (await import('./rendering.pdf.ts')).writePages(chart, how);
  const svg = drawChart(chart, how.workspace, how.options);
  if (format === 'svg') return Buffer.from(svg);
  return (await import('./rendering.png.ts')).pngOf(svg);
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

/** Renders, and describes an error in a form that can be passed between threads. */
async function answerTo(rendering: Rendering): Promise<RenderResult> {
  try {
    const made = await makeRendering(rendering);
    // a small buffer is part of the shared pool and cannot be transferred
    const isWhole = made.byteLength === made.buffer.byteLength;
    return { bytes: (isWhole ? made : Uint8Array.from(made)) as Uint8Array<ArrayBuffer> };
  } catch (error) {
    if (!(error instanceof EstateError)) throw new Error(`rendering failed: ${error}`, { cause: error });
    return { refused: { code: error.code, detail: error.message, errors: error.errors } };
  }
}

/** Worker thread that renders files and charts of reports. */
answerRequests(answerTo, (answer) => ('bytes' in answer ? [answer.bytes.buffer] : []));
