import type { Services } from '../../../domain/kernel/services.ts';
import { ReportRunner } from '../../../reports/kernel/report.runner.ts';
import { reportCatalogue } from '../../../reports/reports.catalogue.ts';
import type { App } from '../../types.ts';
import { registerKpiRoutes } from './kpis.routes.ts';
import { reportOperation } from './report.operation.ts';
import { ResponseCache } from './report.response-cache.ts';

/** The reports and the time series of the key figures. */
export function registerReportRoutes(app: App, services: Services): void {
  for (const { result } of reportCatalogue) app.addSchema(result);
  const runner = new ReportRunner(services.cache, services.config.redisUrl !== undefined);
  const responseCache = new ResponseCache(runner);
  app.decorate('reportFigures', runner.figures);
  for (const report of reportCatalogue) reportOperation(app, services, runner, responseCache, report);

  registerKpiRoutes(app, services, runner);
}
