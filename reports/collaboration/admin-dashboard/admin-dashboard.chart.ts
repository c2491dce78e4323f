import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';

interface Shown {
  kpis: Record<string, number>;
  stakeholder_coverage: { type: string; with_stakeholders: number; missing: number }[];
  approval_pipeline: { type: string; draft: number; approved: number; rejected: number; broken: number }[];
}

const labels: Record<string, string> = {
  total_users: 'Users',
  active_users_30d: 'Active in 30 days',
  pending_sso_invitations: 'Not yet logged in by SSO',
  cards_without_stakeholders: 'Cards without stakeholders',
  broken_total: 'Broken approvals',
  stuck_approvals: 'Drafts left lying',
  overdue_todos_total: 'Overdue todos',
  unassigned_todo_count: 'Unassigned todos',
};

/** The key figures, who looks after cards, and how far approvals are. */
export function adminDashboardChart(answer: Shown, context: ChartContext): Chart {
  const bars = { kind: 'bars', itemAxis: 'Type', valueAxis: 'Cards', unit: 'count' } as const;
  return {
    kind: 'panels',
    title: 'Administration',
    panels: [
      {
        kind: 'figures',
        title: 'What is left lying',
        items: Object.entries(labels).map(([key, name]) => ({
          name,
          value: answer.kpis[key]!,
          unit: 'count',
        })),
      },
      {
        ...bars,
        title: 'Cards with and without stakeholders',
        series: ['With', 'Without'],
        items: answer.stakeholder_coverage.map((row) => ({
          name: typeLabel(context, row.type),
          values: [row.with_stakeholders, row.missing],
        })),
      },
      {
        ...bars,
        title: 'Approvals',
        series: ['Draft', 'Approved', 'Rejected', 'Broken'],
        items: answer.approval_pipeline.map((row) => ({
          name: typeLabel(context, row.type),
          values: [row.draft, row.approved, row.rejected, row.broken],
        })),
      },
    ],
  };
}
