import Type, { type TProperties } from 'typebox';
import {
  Choice,
  Count,
  component,
  DateOnly,
  IntegerFrom,
  Nullable,
  object,
  optional,
  partialObject,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import {
  budgetLines,
  costLines,
  projectRisks,
  statusReports,
} from '../../../domain/modelling/ppm/initiative.kinds.ts';
import { dependencies, taskComments, tasks, wbsItems } from '../../../domain/modelling/ppm/plan.kinds.ts';
import { type PpmKind, ppmColumns } from '../../../domain/modelling/ppm/ppm.kinds.ts';
import {
  BudgetLine,
  CostLine,
  ProjectRisk,
  planKinds,
  StatusReport,
  Task,
  TaskComment,
  WbsItem,
} from '../../../domain/modelling/ppm/ppm.model.ts';

const PlanKind = Choice(planKinds);
const VisibleAmount = Nullable(
  Type.Number({ description: 'Null for users who may not see the costs of the initiative' }),
);
const Percent = Type.Number({ minimum: 0, maximum: 100 });
const Name = Nullable(Type.String());

/** The response schema of a kind of rows: stored and computed columns. */
const answer = (name: string, kind: PpmKind, computed: TProperties = {}) =>
  component(name, { ...ppmColumns(kind), ...computed });

/** The request bodies of a kind: required columns, columns with a default, and others. */
function bodies<C extends TProperties>(
  columns: C,
  fields: { required: (keyof C)[]; defaults?: { [column in keyof C]?: unknown }; optional?: (keyof C)[] },
) {
  const { required, defaults = {}, optional: others = [] } = fields;
  const pick = (names: readonly (keyof C)[]) =>
    Object.fromEntries(names.map((name) => [name, columns[name]!])) as TProperties;
  const defaulted = Object.entries(defaults).map(([name, value]) => [
    name,
    Type.Unsafe({ ...columns[name as keyof C], default: value }),
  ]);
  return {
    create: object({ ...pick(required), ...Object.fromEntries(defaulted), ...optional(pick(others)) }),
    patch: partialObject(pick([...required, ...Object.keys(defaults), ...others])),
  };
}

export const statusReport = {
  row: answer('PpmStatusReport', statusReports, {
    reporter: Nullable(object({ id: Uuid, display_name: Type.String() })),
  }),
  ...bodies(StatusReport.columns, {
    required: ['report_date'],
    defaults: { schedule_health: 'onTrack', cost_health: 'onTrack', scope_health: 'onTrack' },
    optional: ['summary', 'accomplishments', 'next_steps'],
  }),
};

export const costLine = {
  row: answer('PpmCostLine', costLines, { planned: VisibleAmount, actual: VisibleAmount }),
  ...bodies(CostLine.columns, {
    required: ['description', 'category'],
    defaults: { planned: 0, actual: 0 },
    optional: ['date'],
  }),
};

export const budgetLine = {
  row: answer('PpmBudgetLine', budgetLines, { amount: VisibleAmount }),
  ...bodies(BudgetLine.columns, { required: ['fiscal_year', 'category'], defaults: { amount: 0 } }),
};
export const HasCostsSchema = component('PpmHasCosts', {
  has_budget_lines: Type.Boolean(),
  has_cost_lines: Type.Boolean(),
});

export const projectRisk = {
  row: answer('PpmRisk', projectRisks, {
    risk_score: Type.Integer({ minimum: 1, maximum: 25, description: 'Probability times impact' }),
    owner_name: Name,
  }),
  ...bodies(ProjectRisk.columns, {
    required: ['title'],
    defaults: { probability: 3, impact: 3, status: 'open' },
    optional: ['description', 'mitigation', 'owner_id'],
  }),
};

export const task = {
  row: answer('PpmTask', tasks, { assignee_name: Name, comment_count: Count }),
  ...bodies(Task.columns, {
    required: ['title'],
    defaults: { status: 'todo', priority: 'medium', sort_order: 0, tags: [] },
    optional: ['description', 'assignee_id', 'start_date', 'due_date', 'wbs_id'],
  }),
};

export const taskComment = answer('PpmTaskComment', taskComments, { user_display_name: Type.String() });
export const TaskCommentBody = object({ content: TaskComment.columns.content });

export const wbs = {
  row: answer('PpmWbs', wbsItems, {
    assignee_name: Name,
    progress: Type.Number({ ...Percent, description: 'Computed from tasks and child items' }),
    task_count: IntegerFrom(0, 'Tasks at the item and below'),
  }),
  ...bodies(WbsItem.columns, {
    required: ['title'],
    defaults: { sort_order: 0, is_milestone: false, completion: 0 },
    optional: ['description', 'parent_id', 'start_date', 'end_date', 'assignee_id'],
  }),
};
export const CompletionSchema = component('PpmCompletion', { completion: Percent });

export const dependency = answer('PpmDependency', dependencies, {
  pred_kind: PlanKind,
  pred_id: Uuid,
  succ_kind: PlanKind,
  succ_id: Uuid,
});
const Day = Nullable(Type.String({ format: 'date', description: 'Null after the year 9999' }));
const scheduled = {
  kind: PlanKind,
  id: Uuid,
  title: Type.String(),
  wbs_id: Nullable(Type.String({ ...Uuid, description: 'The WBS item that contains it' })),
  duration: IntegerFrom(0, 'Days; for a WBS item from its first start to its last end'),
  earliest_start: Day,
  earliest_end: Day,
  latest_start: Day,
  latest_end: Day,
  slack: IntegerFrom(0, 'Days by which it may be late without delaying the plan'),
  critical: Type.Boolean({ description: 'Whether it has no slack' }),
};
export const CriticalPathSchema = component('PpmCriticalPath', {
  initiative_id: Uuid,
  start_date: DateOnly,
  end_date: Day,
  duration: IntegerFrom(0, 'Days from the start to the end'),
  critical_path: Type.Array(object({ kind: PlanKind, id: Uuid, title: Type.String() }), {
    description: 'Tasks, and WBS items without parts, that have no slack, by earliest start',
  }),
  items: Type.Array(object(scheduled), {
    description: 'All parts of the plan, by earliest start',
  }),
});
