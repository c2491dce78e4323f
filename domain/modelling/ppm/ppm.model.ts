import Type from 'typebox';
import { type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Choice, DateOnly, Nullable, NumberIn, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** The card type whose cards have plans, reports and lines. */
export const INITIATIVE = 'Initiative';

/** The topic that every write here raises: reports over initiatives depend on it. */
export const PPM_TOPIC = 'ppm';

const healths = ['onTrack', 'atRisk', 'offTrack'] as const;
const spendings = ['capex', 'opex'] as const;
const projectRiskStatuses = ['open', 'mitigating', 'mitigated', 'closed', 'accepted'] as const;
export const taskStatuses = ['todo', 'in_progress', 'done', 'blocked'] as const;
const taskPriorities = ['critical', 'high', 'medium', 'low'] as const;

/** What an end of a dependency is. */
export const planKinds = ['task', 'wbs'] as const;
export type PlanKind = (typeof planKinds)[number];

/** Cost and budget lines that one initiative may have. */
export const MAX_LINES = 1_000;
/** Status reports, and project risks, that one initiative may have. */
export const MAX_NOTES = 1_000;
export const MAX_TASKS = 10_000;
export const MAX_WBS = 2_000;
export const MAX_DEPENDENCIES = 20_000;
export const MAX_TASK_COMMENTS = 1_000;
/** Levels of the work breakdown; roots are on level 1. */
export const MAX_WBS_DEPTH = 10;
/** The largest amount on a line, so that sums keep their cents. */
const MAX_AMOUNT = 1e11;

const Title = Type.String({ minLength: 1, maxLength: 500 });
const Text = Nullable(Type.String({ maxLength: 10_000 }));
const Amount = Type.Number({ minimum: -MAX_AMOUNT, maximum: MAX_AMOUNT });
const Order = Type.Integer({ minimum: -1_000_000_000, maximum: 1_000_000_000 });
const Level = Type.Integer({ minimum: 1, maximum: 5 });
const Person = Nullable(Uuid);
const Day = Nullable(DateOnly);
/** Every row belongs to an initiative, its card. */
const key = { id: Uuid, card_id: Uuid };
const times = { created_at: Timestamp, updated_at: Timestamp };

export class StatusReport extends rowModel('ppm_reports', {
  ...key,
  reporter_id: Person,
  report_date: DateOnly,
  schedule_health: Choice(healths, 'Whether the dates will be met'),
  cost_health: Choice(healths, 'Whether the budget will be met'),
  scope_health: Choice(healths, 'Whether what was agreed on will be delivered'),
  summary: Text,
  accomplishments: Text,
  next_steps: Text,
  ...times,
}) {}
export type StatusReportRow = RowOf<typeof StatusReport>;

export class CostLine extends rowModel('ppm_cost_lines', {
  ...key,
  description: Title,
  category: Choice(spendings),
  planned: Amount,
  actual: Amount,
  date: Day,
  ...times,
}) {}
export type CostLineRow = RowOf<typeof CostLine>;

export class BudgetLine extends rowModel('ppm_budget_lines', {
  ...key,
  fiscal_year: Type.Integer({
    minimum: 1900,
    maximum: 2200,
    examples: [2026],
    description: 'Called after the calendar year in which it ends',
  }),
  category: Choice(spendings),
  amount: Amount,
  ...times,
}) {}
export type BudgetLineRow = RowOf<typeof BudgetLine>;

export class ProjectRisk extends rowModel('ppm_risks', {
  ...key,
  title: Title,
  description: Text,
  probability: Level,
  impact: Level,
  mitigation: Text,
  owner_id: Person,
  status: Choice(projectRiskStatuses),
  ...times,
}) {}
export type ProjectRiskRow = RowOf<typeof ProjectRisk>;

/** An item of the work breakdown structure. */
export class WbsItem extends rowModel('ppm_wbs', {
  ...key,
  parent_id: Nullable(Uuid),
  title: Title,
  description: Text,
  start_date: Day,
  end_date: Day,
  sort_order: Order,
  is_milestone: Type.Boolean(),
  completion: NumberIn(0, 100, 'As entered; counts for items without tasks and items below'),
  assignee_id: Person,
  ...times,
}) {}
export type WbsRow = RowOf<typeof WbsItem>;

export class Task extends rowModel('ppm_tasks', {
  ...key,
  title: Title,
  description: Text,
  status: Choice(taskStatuses),
  priority: Choice(taskPriorities),
  assignee_id: Person,
  start_date: Day,
  due_date: Day,
  sort_order: Order,
  tags: SqlArray(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 }),
  wbs_id: Nullable(Type.String({ ...Uuid, description: 'The WBS item that it is part of' })),
  ...times,
}) {}
export type TaskRow = RowOf<typeof Task>;

export class TaskComment extends rowModel('ppm_task_comments', {
  ...key,
  task_id: Uuid,
  user_id: Person,
  content: Type.String({ minLength: 1, maxLength: 10_000 }),
  ...times,
}) {}
export type TaskCommentRow = RowOf<typeof TaskComment>;

/** The successor starts after the predecessor has ended; each is a task or a WBS item. */
export class Dependency extends rowModel('ppm_dependencies', {
  ...key,
  pred_task_id: Nullable(Uuid),
  pred_wbs_id: Nullable(Uuid),
  succ_task_id: Nullable(Uuid),
  succ_wbs_id: Nullable(Uuid),
  kind: Type.Literal('FS'),
  ...times,
}) {}
export type DependencyRow = RowOf<typeof Dependency>;
