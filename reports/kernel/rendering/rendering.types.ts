import type { ChartContext } from '../charts/charts.labels.ts';
import type { Chart, ChartWorkspace } from '../charts/charts.types.ts';
import type { DocumentFormat, PrintDocument } from '../documents/document.types.ts';

/** An answer of a report, as its thread gets it. */
interface OfAnswer {
  /** Name of the report. */
  report: string;
  params: Record<string, unknown>;
  /** JSON in UTF-8. */
  body: Uint8Array;
}

/** What is made beside the thread that answers requests. */
export type Rendering =
  | (OfAnswer & { make: 'csv' /** The first without it. */; table?: string })
  | (OfAnswer & { make: 'xlsx' })
  | (OfAnswer & { make: 'picture'; context: ChartContext; workspace: ChartWorkspace })
  | { make: 'chart'; chart: Chart; workspace: ChartWorkspace }
  | { make: DocumentFormat; paper: PrintDocument };

/** From the thread: the file, or why there is none. */
export type RenderAnswer = { bytes: Uint8Array<ArrayBuffer> } | { refused: Refusal } | { failed: string };

/** A refusal that the client is told, in a form that passes between threads. */
export interface Refusal {
  code: string;
  detail: string;
  errors: { field: string; code: string; message: string }[] | undefined;
}
