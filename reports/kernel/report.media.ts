import type { ReportFormat } from '../../domain/inventory/reports/report.options.ts';

/** Media types of report files. */
export const fileMediaTypes: Record<ReportFormat, string> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  svg: 'image/svg+xml; charset=utf-8',
};
