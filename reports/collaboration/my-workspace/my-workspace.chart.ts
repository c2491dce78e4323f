import type { Chart } from '../../kernel/charts/charts.types.ts';

/** The figures of one person's workspace in words. */
export function myWorkspaceChart(figures: Record<keyof typeof labels, number>): Chart {
  return {
    kind: 'figures',
    title: 'My workspace',
    items: Object.entries(labels).map(([key, name]) => ({
      name,
      value: figures[key as keyof typeof labels],
      unit: 'count',
    })),
  };
}

const labels = {
  attention_count: 'Need attention',
  open_todo_count: 'Open todos',
  overdue_todo_count: 'Overdue todos',
  pending_survey_count: 'Questions to answer',
  broken_card_count: 'Broken approvals',
  stakeholder_card_count: 'Cards with a role',
  favorite_count: 'Favourites',
  created_count: 'Cards made',
};
