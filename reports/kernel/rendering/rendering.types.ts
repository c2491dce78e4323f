import type {
  PictureFormat,
  PictureOptions,
  ReportFormat,
} from '../../../domain/inventory/reports/report.options.ts';
import type { ChartContext } from '../charts/charts.labels.ts';
import type { Chart, ChartWorkspace } from '../charts/charts.types.ts';
import type { DocumentFormat, PrintDocument } from '../documents/document.types.ts';

/** What a chart of a report needs besides its result. */
export interface RenderContext {
  context: ChartContext;
  workspace: ChartWorkspace;
  options: PictureOptions;
}

/** What slides say besides their charts. */
export interface SlideNotes {
  /** The parameters. */
  line: string;
  /** Of the data, `YYYY-MM-DD`. */
  day: string;
}

/** A file or chart of a report's result. */
export interface RenderedReport {
  /** Name of the report. */
  report: string;
  params: Record<string, unknown>;
  /** JSON in UTF-8. */
  body: Uint8Array;
  /** `rows`: a line of JSON with the columns of the main table, then one for each row. */
  format: Exclude<ReportFormat, 'json'> | 'rows';
  /** The table that CSV contains; default: the first. */
  table?: string | undefined;
  /** Of charts, and of workbooks whose headers are labels. */
  look?: RenderContext | undefined;
  /** The parameters with filter and scope, for slides. */
  said: Record<string, unknown>;
}

/** A rendering in a worker thread. */
export type Rendering =
  | RenderedReport
  | {
      chart: Chart;
      workspace: ChartWorkspace;
      format: PictureFormat;
      options: PictureOptions;
      notes: SlideNotes;
    }
  | { make: DocumentFormat; paper: PrintDocument };

/** The result of the thread: the file or an error. */
export type RenderResult = { bytes: Uint8Array<ArrayBuffer> } | { refused: Refusal };

/** An error for the client, in a form that can be passed between threads. */
export interface Refusal {
  code: string;
  detail: string;
  errors: { field: string; code: string; message: string }[] | undefined;
}
