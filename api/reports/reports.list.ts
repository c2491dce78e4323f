import type { TSchema } from 'typebox';
import type { Report } from '../../reports/kernel/report.ts';
import { reportCatalogue } from '../../reports/reports.catalogue.ts';
import * as bpm from '../schemas/reports.bpm.ts';
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
import { PpmDashboardSchema, PpmGanttSchema, PpmGroupOptionsSchema } from '../schemas/reports.ppm.ts';
import { DashboardSchema } from '../schemas/reports.ts';

/** A report and the named schema of its answer. */
export interface ReportEntry {
  report: Report;
  answer: TSchema;
}

const answers: Record<string, TSchema> = {
  dashboard: DashboardSchema,
  'my-workspace': MyWorkspaceSchema,
  'admin-dashboard': AdminDashboardSchema,
  'stakeholder-directory': StakeholderDirectorySchema,
  'data-quality': DataQualityReportSchema,
  portfolio: PortfolioReportSchema,
  roadmap: RoadmapReportSchema,
  cost: CostReportSchema,
  'cost-treemap': CostTreemapReportSchema,
  eol: EolReportSchema,
  matrix: MatrixReportSchema,
  dependencies: DependenciesReportSchema,
  landscape: LandscapeReportSchema,
  'capability-heatmap': CapabilityHeatmapReportSchema,
  'app-portfolio': AppPortfolioReportSchema,
  'ppm-group-options': PpmGroupOptionsSchema,
  'ppm-dashboard': PpmDashboardSchema,
  'ppm-gantt': PpmGanttSchema,
  'bpm-dashboard': bpm.BpmDashboardSchema,
  'bpm-capability-process-matrix': bpm.CapabilityProcessMatrixSchema,
  'bpm-process-application-matrix': bpm.ProcessApplicationMatrixSchema,
  'bpm-process-dependencies': bpm.ProcessDependenciesSchema,
  'bpm-capability-heatmap': bpm.BpmCapabilityHeatmapSchema,
  'bpm-element-application-map': bpm.ElementApplicationMapSchema,
  'bpm-process-map': bpm.ProcessMapSchema,
  'bpm-value-stream-matrix': bpm.ValueStreamMatrixSchema,
};

/** Every report, in the order of the API's description. */
export const reports: ReportEntry[] = reportCatalogue.map((report) => ({
  report,
  answer: answers[report.name]!,
}));
