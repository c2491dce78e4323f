import type { PictureOptions } from '../../domain/inventory/reports/report.options.ts';
import type { Metamodel } from '../../domain/kernel/metamodel/metamodel.compile.ts';
import type { SettingValues } from '../../domain/kernel/settings/settings.read.ts';
import type { ChartWorkspace } from './charts/charts.types.ts';
import type { RenderContext } from './rendering/rendering.types.ts';

/** The day of a report's data, `YYYY-MM-DD`. */
export const dayOf = (asOf: Date | undefined): string => (asOf ?? new Date()).toISOString().slice(0, 10);

/** Currency and date format of charts. */
export const chartWorkspaceOf = ({ currency, date_format }: SettingValues): ChartWorkspace => ({
  currency,
  dateFormat: date_format,
});

/** What charts need of settings and metamodel; only as much as can be passed to another thread. */
export const renderContextOf = (
  settings: SettingValues,
  { cardTypes }: Metamodel,
  today: string,
  options: PictureOptions,
): RenderContext => ({
  context: { metamodel: { cardTypes }, today },
  workspace: chartWorkspaceOf(settings),
  options,
});
