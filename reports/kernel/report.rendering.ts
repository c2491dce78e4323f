import type { ReportFormat } from '../../domain/inventory/reports/report.options.ts';
import type { Metamodel } from '../../domain/kernel/metamodel/metamodel.compile.ts';
import type { SettingValues } from '../../domain/kernel/settings/settings.read.ts';
import type { ChartContext } from './charts/charts.labels.ts';
import type { ChartWorkspace } from './charts/charts.types.ts';
import type { Rendering } from './rendering/rendering.types.ts';

/** What a picture of an answer needs besides the answer. */
export interface RenderContext {
  context: ChartContext;
  workspace: ChartWorkspace;
}

/** The day that an answer shows, `YYYY-MM-DD`. */
export const dayOf = (asOf: Date | undefined): string => (asOf ?? new Date()).toISOString().slice(0, 10);

/** Currency and form of dates. */
export const chartWorkspaceOf = ({ currency, date_format }: SettingValues): ChartWorkspace => ({
  currency,
  dateFormat: date_format,
});

/** The look of pictures, under the settings and the metamodel as they are. */
export function renderContextOf(
  settings: SettingValues,
  { cardTypes }: Metamodel,
  today: string,
): RenderContext {
  return {
    // no more than is read there: it is handed to another thread
    context: { metamodel: { cardTypes }, today },
    workspace: chartWorkspaceOf(settings),
  };
}

/** What is to be made of an answer. */
export interface RenderedAnswer {
  /** Name of the report. */
  report: string;
  params: Record<string, unknown>;
  body: Buffer;
  format: Exclude<ReportFormat, 'json'>;
  /** Which table CSV holds; the first without it. */
  table: string | undefined;
  /** For pictures. */
  look: RenderContext | undefined;
}

/** The same in the form in which it is handed to another thread. */
export function renderingOf({ report, params, body, format, table, look }: RenderedAnswer): Rendering {
  const answer = { report, params, body };
  if (format === 'svg') return { make: 'picture', ...answer, ...look! };
  return format === 'csv' && table !== undefined
    ? { make: 'csv', ...answer, table }
    : { make: format, ...answer };
}
