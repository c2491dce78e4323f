import type { ChartContext } from '../charts/charts.labels.ts';
import type { Chart, ChartWorkspace } from '../charts/charts.types.ts';
import type { DocumentFormat, PrintDocument } from '../documents/document.types.ts';

/** A report's result for the worker thread. */
interface OfAnswer {
  /** Name of the report. */
  report: string;
  params: Record<string, unknown>;
  /** JSON in UTF-8. */
  body: Uint8Array;
}

/** A rendering in a worker thread. */
export type Rendering =
  | (OfAnswer & { make: 'csv' /** The first without it. */; table?: string })
  | (OfAnswer & { make: 'xlsx' })
  | (OfAnswer & { make: 'picture'; context: ChartContext; workspace: ChartWorkspace })
  | { make: 'chart'; chart: Chart; workspace: ChartWorkspace }
  | { make: DocumentFormat; paper: PrintDocument };

/** The result of the thread: the file or an error. */
export type RenderAnswer = { bytes: Uint8Array<ArrayBuffer> } | { refused: Refusal } | { failed: string };

/** An error for the client, in a form that can be passed between threads. */
export interface Refusal {
  code: string;
  detail: string;
  errors: { field: string; code: string; message: string }[] | undefined;
}
