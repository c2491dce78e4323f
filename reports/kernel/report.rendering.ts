import type { PictureOptions } from '../../domain/inventory/reports/report.options.ts';
import type { Metamodel } from '../../domain/kernel/metamodel/metamodel.compile.ts';
import { labelledMetamodel } from '../../domain/kernel/metamodel/metamodel.labels.ts';
import type { SettingValues } from '../../domain/kernel/settings/settings.read.ts';
import type { InLanguage } from './charts/charts.texts.ts';
import type { ChartWorkspace } from './charts/charts.types.ts';
import type { RenderContext } from './rendering/rendering.types.ts';
import { knownText } from './report.texts.ts';

/** The day of a report's data, `YYYY-MM-DD`. */
export const dayOf = (asOf: Date | undefined): string => (asOf ?? new Date()).toISOString().slice(0, 10);

/** The parameters that a picture does not say by its title and axes, for slides. */
export const paramsLine = (params: Record<string, unknown>, of: InLanguage): string =>
  Object.entries(params)
    .flatMap(([key, value]) => {
      const name = knownText(of, 'param', key);
      if (name === undefined || value === undefined || value === '') return [];
      const values = String(value).split(',');
      const known = values.flatMap((one) => knownText(of, 'value', one) ?? []);
      return [`${name}: ${known.length === values.length ? known.join(', ') : value}`];
    })
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
