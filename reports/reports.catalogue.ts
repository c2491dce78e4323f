import { dependenciesReport } from './analysis/dependencies/dependencies.report.ts';
import { adminDashboardReport } from './collaboration/admin-dashboard/admin-dashboard.report.ts';
import { myWorkspaceReport } from './collaboration/my-workspace/my-workspace.report.ts';
import { stakeholderDirectoryReport } from './collaboration/stakeholder-directory/stakeholder-directory.report.ts';
import { eolReport } from './governance/eol/eol.report.ts';
import { appPortfolioReport } from './inventory/app-portfolio/app-portfolio.report.ts';
import { capabilityHeatmapReport } from './inventory/capability-heatmap/capability-heatmap.report.ts';
import { costReport } from './inventory/cost/cost.report.ts';
import { costPeriodsReport } from './inventory/cost-periods/cost-periods.report.ts';
import { costTreemapReport } from './inventory/cost-treemap/cost-treemap.report.ts';
import { dashboardReport } from './inventory/dashboard/dashboard.report.ts';
import { dataQualityReport } from './inventory/data-quality/data-quality.report.ts';
import { landscapeReport } from './inventory/landscape/landscape.report.ts';
import { matrixReport } from './inventory/matrix/matrix.report.ts';
import { portfolioReport } from './inventory/portfolio/portfolio.report.ts';
import { roadmapReport } from './inventory/roadmap/roadmap.report.ts';
import type { Report } from './kernel/report.ts';
import { bpmCapabilityHeatmapReport } from './modelling/bpm/capability-heatmap.report.ts';
import { bpmDashboardReport } from './modelling/bpm/dashboard.report.ts';
import { processDependenciesReport } from './modelling/bpm/dependencies.report.ts';
import { elementApplicationMapReport } from './modelling/bpm/element-application-map.report.ts';
import {
  capabilityProcessMatrixReport,
  processApplicationMatrixReport,
} from './modelling/bpm/matrices.report.ts';
import { processMapReport } from './modelling/bpm/process-map.report.ts';
import { valueStreamMatrixReport } from './modelling/bpm/value-stream-matrix.report.ts';
import { ppmDashboardReport } from './modelling/ppm/ppm-dashboard.report.ts';
import { ppmGanttReport } from './modelling/ppm/ppm-gantt.report.ts';
import { ppmGroupOptionsReport } from './modelling/ppm/ppm-group-options.report.ts';

/** All reports, in the order of the OpenAPI document. */
export const reportCatalogue: readonly Report[] = [
  dashboardReport,
  myWorkspaceReport,
  adminDashboardReport,
  stakeholderDirectoryReport,
  dataQualityReport,
  portfolioReport,
  roadmapReport,
  costReport,
  costTreemapReport,
  costPeriodsReport,
  eolReport,
  matrixReport,
  dependenciesReport,
  landscapeReport,
  capabilityHeatmapReport,
  appPortfolioReport,
  ppmGroupOptionsReport,
  ppmDashboardReport,
  ppmGanttReport,
  bpmDashboardReport,
  capabilityProcessMatrixReport,
  processApplicationMatrixReport,
  processDependenciesReport,
  bpmCapabilityHeatmapReport,
  elementApplicationMapReport,
  processMapReport,
  valueStreamMatrixReport,
];

const byName = new Map(reportCatalogue.map((report) => [report.name, report]));

/** @throws Error for an unknown name. */
export function reportNamed(name: string): Report {
  const report = byName.get(name);
  if (!report) throw new Error(`there is no report ${name}`);
  return report;
}
