import type { TSchema } from 'typebox';
import { dashboardReport } from '../../reports/dashboard/dashboard.report.ts';
import { dataQualityReport } from '../../reports/data-quality/data-quality.report.ts';
import type { Report } from '../../reports/report.ts';
import { DataQualityReportSchema } from '../schemas/reports.data-quality.ts';
import { DashboardSchema } from '../schemas/reports.ts';

/** A report and the named schema of its answer. */
export interface ReportEntry {
  report: Report;
  answer: TSchema;
}

/** Every report, in the order of the API's description. */
export const reports: ReportEntry[] = [
  { report: dashboardReport, answer: DashboardSchema },
  { report: dataQualityReport, answer: DataQualityReportSchema },
];
