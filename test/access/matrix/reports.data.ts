import { type Row, row } from '../matrix.row.ts';

/** Reports, and the series of key figures. */
export const reportRows: Row[] = [
  // operation                                  A B M V I P 0
  row('GET /api/v1/reports/dashboard', '+ + + + - - 0'),
  row('GET /api/v1/reports/my-workspace', '+ + + + + + 0'),
  row('GET /api/v1/reports/admin-dashboard', '+ - - - - - 0'),
  row('GET /api/v1/reports/stakeholder-directory', '+ - - - - - 0'),
  row('GET /api/v1/reports/data-quality', '+ + + + - - 0'),
  row('GET /api/v1/reports/portfolio', '+ + + - - - 0'),
  row('GET /api/v1/reports/portfolio (no costs)', '+ + + + - - 0', () => ({
    query: 'size_field=numberOfUsers',
  })),
  row('GET /api/v1/reports/roadmap', '+ + + + - - 0'),
  row('GET /api/v1/reports/cost', '+ + + - - - 0'),
  row('GET /api/v1/reports/cost-treemap', '+ + + - - - 0'),
  row('GET /api/v1/reports/landscape', '+ + + + - - 0'),
  row('GET /api/v1/reports/capability-heatmap', '+ + + + - - 0'),
  row('GET /api/v1/reports/capability-heatmap (costs)', '+ + + - - - 0', () => ({
    query: 'metric=total_cost',
  })),
  row('GET /api/v1/reports/app-portfolio', '+ + + + - - 0'),
  row('GET /api/v1/reports/kpis', '+ + + + - - 0'),
  row('GET /api/v1/reports/matrix', '+ + + + - - 0'),
  row('GET /api/v1/reports/dependencies', '+ + + + - - 0'),
  row('POST /api/v1/reports/query', '+ + + + - - 0', () => ({ body: { dimensions: [{ field: 'type' }] } })),
];
