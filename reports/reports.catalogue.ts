import { adminDashboardReport } from './admin-dashboard/admin-dashboard.report.ts';
import { appPortfolioReport } from './app-portfolio/app-portfolio.report.ts';
import { bpmCapabilityHeatmapReport } from './bpm/capability-heatmap.report.ts';
import { bpmDashboardReport } from './bpm/dashboard.report.ts';
import { processDependenciesReport } from './bpm/dependencies.report.ts';
import { elementApplicationMapReport } from './bpm/element-application-map.report.ts';
import { capabilityProcessMatrixReport, processApplicationMatrixReport } from './bpm/matrices.report.ts';
import { processMapReport } from './bpm/process-map.report.ts';
import { valueStreamMatrixReport } from './bpm/value-stream-matrix.report.ts';
import { capabilityHeatmapReport } from './capability-heatmap/capability-heatmap.report.ts';
import { costReport } from './cost/cost.report.ts';
import { costTreemapReport } from './cost-treemap/cost-treemap.report.ts';
import { dashboardReport } from './dashboard/dashboard.report.ts';
import { dataQualityReport } from './data-quality/data-quality.report.ts';
import { dependenciesReport } from './dependencies/dependencies.report.ts';
import { eolReport } from './eol/eol.report.ts';
import { landscapeReport } from './landscape/landscape.report.ts';
import { matrixReport } from './matrix/matrix.report.ts';
import { myWorkspaceReport } from './my-workspace/my-workspace.report.ts';
import { portfolioReport } from './portfolio/portfolio.report.ts';
import { ppmDashboardReport } from './ppm/ppm-dashboard.report.ts';
import { ppmGanttReport } from './ppm/ppm-gantt.report.ts';
import { ppmGroupOptionsReport } from './ppm/ppm-group-options.report.ts';
import type { Report } from './report.ts';
import { roadmapReport } from './roadmap/roadmap.report.ts';
import { stakeholderDirectoryReport } from './stakeholder-directory/stakeholder-directory.report.ts';

/** Every report, in the order of the API's description. */
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

/** @throws Error when there is none: names come from the catalogue. */
export function reportNamed(name: string): Report {
  const report = byName.get(name);
  if (!report) throw new Error(`there is no report ${name}`);
  return report;
}
