import type { PictureOptions } from '../../domain/inventory/reports/report.options.ts';
import type { Metamodel } from '../../domain/kernel/metamodel/metamodel.compile.ts';
import { labelledMetamodel } from '../../domain/kernel/metamodel/metamodel.labels.ts';
import type { SettingValues } from '../../domain/kernel/settings/settings.read.ts';
import type { InLanguage } from './charts/charts.texts.ts';
import type { ChartWorkspace } from './charts/charts.types.ts';
import type { RenderContext } from './rendering/rendering.types.ts';

/** The day of a report's data, `YYYY-MM-DD`. */
export const dayOf = (asOf: Date | undefined): string => (asOf ?? new Date()).toISOString().slice(0, 10);

/** Parameters as slides name them. */
export const paramsLine = (params: Record<string, unknown>): string =>
  Object.entries(params)
    .filter(
      ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
    )
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ');

/** Currency, date format and language of charts. */
export const chartWorkspaceOf = (
  { currency, date_format }: SettingValues,
  { language }: InLanguage,
): ChartWorkspace => ({ currency, dateFormat: date_format, language });

/** What charts need of settings and metamodel; only as much as can be passed to another thread. */
export const renderContextOf = (
  settings: SettingValues,
  metamodel: Metamodel,
  today: string,
  options: PictureOptions,
): RenderContext => ({
  context: {
    metamodel: { cardTypes: labelledMetamodel(metamodel, options.language).cardTypes },
    today,
    language: options.language,
  },
  workspace: chartWorkspaceOf(settings, options),
  options,
});
