import { type Row, row } from '../matrix.row.ts';

/** Reports, and the series of key figures. */
export const reportRows: Row[] = [
  // operation                                  A B M V I P 0
  row('GET /reports/dashboard', '+ + + + - - 0'),
  row('GET /reports/my-workspace', '+ + + + + + 0'),
  row('GET /reports/admin-dashboard', '+ - - - - - 0'),
  row('GET /reports/stakeholder-directory', '+ - - - - - 0'),
  row('GET /reports/data-quality', '+ + + + - - 0'),
  row('GET /reports/portfolio', '+ + + + - - 0'),
  row('GET /reports/portfolio (costs)', '+ + + - - - 0', () => ({
    query: 'size_field=costTotalAnnual',
  })),
  row('GET /reports/roadmap', '+ + + + - - 0'),
  row('GET /reports/cost', '+ + + - - - 0'),
  row('GET /reports/cost-treemap', '+ + + - - - 0'),
  row('GET /reports/cost-periods', '+ + + - - - 0'),
  row('GET /reports/landscape', '+ + + + - - 0'),
  row('GET /reports/capability-heatmap', '+ + + + - - 0'),
  row('GET /reports/capability-heatmap (costs)', '+ + + - - - 0', () => ({
    query: 'metric=total_cost',
  })),
  row('GET /reports/app-portfolio', '+ + + + - - 0'),
  row('GET /reports/kpis', '+ + + + - - 0'),
  row('GET /reports/matrix', '+ + + + - - 0'),
  row('GET /reports/dependencies', '+ + + + - - 0'),
  row('POST /reports/query', '+ + + + - - 0', () => ({ body: { dimensions: [{ field: 'type' }] } })),
];
