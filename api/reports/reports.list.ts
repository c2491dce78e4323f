import type { TSchema } from 'typebox';
import { adminDashboardReport } from '../../reports/admin-dashboard/admin-dashboard.report.ts';
import { appPortfolioReport } from '../../reports/app-portfolio/app-portfolio.report.ts';
import { capabilityHeatmapReport } from '../../reports/capability-heatmap/capability-heatmap.report.ts';
import { costReport } from '../../reports/cost/cost.report.ts';
import { costTreemapReport } from '../../reports/cost-treemap/cost-treemap.report.ts';
import { dashboardReport } from '../../reports/dashboard/dashboard.report.ts';
import { dataQualityReport } from '../../reports/data-quality/data-quality.report.ts';
import { dependenciesReport } from '../../reports/dependencies/dependencies.report.ts';
import { eolReport } from '../../reports/eol/eol.report.ts';
import { landscapeReport } from '../../reports/landscape/landscape.report.ts';
import { matrixReport } from '../../reports/matrix/matrix.report.ts';
import { myWorkspaceReport } from '../../reports/my-workspace/my-workspace.report.ts';
import { portfolioReport } from '../../reports/portfolio/portfolio.report.ts';
import type { Report } from '../../reports/report.ts';
import { roadmapReport } from '../../reports/roadmap/roadmap.report.ts';
import { stakeholderDirectoryReport } from '../../reports/stakeholder-directory/stakeholder-directory.report.ts';
import { PortfolioReportSchema, RoadmapReportSchema } from '../schemas/reports.cards.ts';
import { CostReportSchema, CostTreemapReportSchema } from '../schemas/reports.costs.ts';
import { DataQualityReportSchema } from '../schemas/reports.data-quality.ts';
import { EolReportSchema } from '../schemas/reports.eol.ts';
import { DependenciesReportSchema, MatrixReportSchema } from '../schemas/reports.graphs.ts';
import {
  AppPortfolioReportSchema,
  CapabilityHeatmapReportSchema,
  LandscapeReportSchema,
} from '../schemas/reports.landscape.ts';
import {
  AdminDashboardSchema,
  MyWorkspaceSchema,
  StakeholderDirectorySchema,
} from '../schemas/reports.people.ts';
import { DashboardSchema } from '../schemas/reports.ts';

/** A report and the named schema of its answer. */
export interface ReportEntry {
  report: Report;
  answer: TSchema;
}

/** Every report, in the order of the API's description. */
export const reports: ReportEntry[] = [
  { report: dashboardReport, answer: DashboardSchema },
  { report: myWorkspaceReport, answer: MyWorkspaceSchema },
  { report: adminDashboardReport, answer: AdminDashboardSchema },
  { report: stakeholderDirectoryReport, answer: StakeholderDirectorySchema },
  { report: dataQualityReport, answer: DataQualityReportSchema },
  { report: portfolioReport, answer: PortfolioReportSchema },
  { report: roadmapReport, answer: RoadmapReportSchema },
  { report: costReport, answer: CostReportSchema },
  { report: costTreemapReport, answer: CostTreemapReportSchema },
  { report: eolReport, answer: EolReportSchema },
  { report: matrixReport, answer: MatrixReportSchema },
  { report: dependenciesReport, answer: DependenciesReportSchema },
  { report: landscapeReport, answer: LandscapeReportSchema },
  { report: capabilityHeatmapReport, answer: CapabilityHeatmapReportSchema },
  { report: appPortfolioReport, answer: AppPortfolioReportSchema },
];
