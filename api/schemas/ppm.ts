import Type, { type TSchema, type TSchemaOptions } from 'typebox';
import { closed, DateOnly, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import {
  healths,
  MAX_AMOUNT,
  planKinds,
  projectRiskStatuses,
  spendings,
  taskPriorities,
  taskStatuses,
} from '../../domain/modelling/ppm/ppm.types.ts';

const oneOf = (values: readonly string[], more: TSchemaOptions = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    more,
  );
const Health = oneOf(healths);
const Spending = oneOf(spendings);
const RiskStatus = oneOf(projectRiskStatuses);
const TaskStatus = oneOf(taskStatuses);
const Priority = oneOf(taskPriorities);
const PlanKindSchema = oneOf(planKinds);
const Title = Type.String({ minLength: 1, maxLength: 500 });
const Text = Type.Optional(Nullable(Type.String({ maxLength: 10_000 })));
const Level = Type.Integer({ minimum: 1, maximum: 5 });
const FiscalYear = Type.Integer({
  minimum: 1900,
  maximum: 2200,
  examples: [2026],
  description: 'Called after the calendar year in which it ends',
});
const Amount = Type.Number({ minimum: -MAX_AMOUNT, maximum: MAX_AMOUNT });
const SeenAmount = Nullable(
  Type.Number({ description: 'Null for those who may not see the costs of the initiative' }),
);
const Order = Type.Integer({ minimum: -1_000_000_000, maximum: 1_000_000_000 });
const NullableText = Nullable(Type.String());
const NullableDay = Nullable(DateOnly);
const Person = Nullable(Uuid);

const times = { created_at: Timestamp, updated_at: Timestamp };
const ofInitiative = { id: Uuid, initiative_id: Uuid };

const named = <T extends Record<string, TSchema>>(name: string, members: T) => ({
  whole: Type.Object(members, { $id: name, ...closed }),
  /** In a list, cut to the members that were asked for. */
  item: Type.Partial(Type.Object(members), { $id: `${name}Item`, ...closed }),
});

export const statusReport = named('PpmStatusReport', {
  ...ofInitiative,
  reporter_id: Person,
  reporter: Nullable(Type.Object({ id: Uuid, display_name: Type.String() }, closed)),
  report_date: DateOnly,
  schedule_health: Health,
  cost_health: Health,
  scope_health: Health,
  summary: NullableText,
  accomplishments: NullableText,
  next_steps: NullableText,
  ...times,
});
const health = (description: string) => oneOf(healths, { default: 'onTrack', description });
const reportTexts = { summary: Text, accomplishments: Text, next_steps: Text };
export const StatusReportBody = Type.Object(
  {
    report_date: DateOnly,
    schedule_health: health('Whether the dates will be kept'),
    cost_health: health('Whether the budget will be kept'),
    scope_health: health('Whether what was agreed on will be delivered'),
    ...reportTexts,
  },
  closed,
);
export const StatusReportPatch = Type.Object(
  {
    report_date: Type.Optional(DateOnly),
    schedule_health: Type.Optional(Health),
    cost_health: Type.Optional(Health),
    scope_health: Type.Optional(Health),
    ...reportTexts,
  },
  closed,
);

export const costLine = named('PpmCostLine', {
  ...ofInitiative,
  description: Type.String(),
  category: Spending,
  planned: SeenAmount,
  actual: SeenAmount,
  date: NullableDay,
  ...times,
});
export const CostLineBody = Type.Object(
  {
    description: Title,
    category: Spending,
    planned: Type.Number({ ...Amount, default: 0 }),
    actual: Type.Number({ ...Amount, default: 0 }),
    date: Type.Optional(NullableDay),
  },
  closed,
);
export const CostLinePatch = Type.Object(
  {
    description: Type.Optional(Title),
    category: Type.Optional(Spending),
    planned: Type.Optional(Amount),
    actual: Type.Optional(Amount),
    date: Type.Optional(NullableDay),
  },
  closed,
);

export const budgetLine = named('PpmBudgetLine', {
  ...ofInitiative,
  fiscal_year: FiscalYear,
  category: Spending,
  amount: SeenAmount,
  ...times,
});
export const BudgetLineBody = Type.Object(
  { fiscal_year: FiscalYear, category: Spending, amount: Type.Number({ ...Amount, default: 0 }) },
  closed,
);
export const BudgetLinePatch = Type.Object(
  {
    fiscal_year: Type.Optional(FiscalYear),
    category: Type.Optional(Spending),
    amount: Type.Optional(Amount),
  },
  closed,
);
export const HasCostsSchema = Type.Object(
  { has_budget_lines: Type.Boolean(), has_cost_lines: Type.Boolean() },
  { $id: 'PpmHasCosts', ...closed },
);

export const projectRisk = named('PpmRisk', {
  ...ofInitiative,
  title: Type.String(),
  description: NullableText,
  probability: Level,
  impact: Level,
  risk_score: Type.Integer({ minimum: 1, maximum: 25, description: 'Probability times impact' }),
  mitigation: NullableText,
  owner_id: Person,
  owner_name: NullableText,
  status: RiskStatus,
  ...times,
});
export const RiskBody = Type.Object(
  {
    title: Title,
    description: Text,
    probability: Type.Integer({ ...Level, default: 3 }),
    impact: Type.Integer({ ...Level, default: 3 }),
    mitigation: Text,
    owner_id: Type.Optional(Person),
    status: oneOf(projectRiskStatuses, { default: 'open' }),
  },
  closed,
);
export const RiskPatch = Type.Object(
  {
    title: Type.Optional(Title),
    description: Text,
    probability: Type.Optional(Level),
    impact: Type.Optional(Level),
    mitigation: Text,
    owner_id: Type.Optional(Person),
    status: Type.Optional(RiskStatus),
  },
  closed,
);

const TaskTags = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 });
export const task = named('PpmTask', {
  ...ofInitiative,
  title: Type.String(),
  description: NullableText,
  status: TaskStatus,
  priority: Priority,
  assignee_id: Person,
  assignee_name: NullableText,
  start_date: NullableDay,
  due_date: NullableDay,
  sort_order: Type.Integer(),
  tags: Type.Array(Type.String()),
  wbs_id: Person,
  comment_count: Type.Integer({ minimum: 0 }),
  ...times,
});
const taskRest = {
  description: Text,
  assignee_id: Type.Optional(Person),
  start_date: Type.Optional(NullableDay),
  due_date: Type.Optional(NullableDay),
  wbs_id: Type.Optional(Nullable(Type.String({ ...Uuid, description: 'The WBS item that it is part of' }))),
};
export const TaskBody = Type.Object(
  {
    title: Title,
    status: oneOf(taskStatuses, { default: 'todo' }),
    priority: oneOf(taskPriorities, { default: 'medium' }),
    sort_order: Type.Integer({ ...Order, default: 0 }),
    tags: Type.Array(TaskTags.items, { maxItems: 50, default: [] }),
    ...taskRest,
  },
  closed,
);
export const TaskPatch = Type.Object(
  {
    title: Type.Optional(Title),
    status: Type.Optional(TaskStatus),
    priority: Type.Optional(Priority),
    sort_order: Type.Optional(Order),
    tags: Type.Optional(TaskTags),
    ...taskRest,
  },
  closed,
);
export const taskFilters = {
  status: Type.Optional(oneOf(taskStatuses, { description: 'Only those in this state' })),
  assignee_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those of this user' })),
  wbs_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those right below this WBS item' })),
};

export const taskComment = named('PpmTaskComment', {
  id: Uuid,
  task_id: Uuid,
  user_id: Nullable(Uuid),
  user_display_name: Type.String(),
  content: Type.String(),
  ...times,
});
export const TaskCommentBody = Type.Object(
  { content: Type.String({ minLength: 1, maxLength: 10_000 }) },
  closed,
);

const Percent = Type.Number({ minimum: 0, maximum: 100 });
export const wbs = named('PpmWbs', {
  ...ofInitiative,
  parent_id: Person,
  title: Type.String(),
  description: NullableText,
  start_date: NullableDay,
  end_date: NullableDay,
  sort_order: Type.Integer(),
  is_milestone: Type.Boolean(),
  completion: Type.Number({ ...Percent, description: 'What was said; counts where nothing lies below' }),
  assignee_id: Person,
  assignee_name: NullableText,
  progress: Type.Number({ ...Percent, description: 'What follows from tasks and items below' }),
  task_count: Type.Integer({ minimum: 0, description: 'Tasks at the item and below' }),
  ...times,
});
const wbsRest = {
  description: Text,
  parent_id: Type.Optional(Person),
  start_date: Type.Optional(NullableDay),
  end_date: Type.Optional(NullableDay),
  assignee_id: Type.Optional(Person),
};
export const WbsBody = Type.Object(
  {
    title: Title,
    sort_order: Type.Integer({ ...Order, default: 0 }),
    is_milestone: Type.Boolean({ default: false }),
    completion: Type.Number({ ...Percent, default: 0 }),
    ...wbsRest,
  },
  closed,
);
export const WbsPatch = Type.Object(
  {
    title: Type.Optional(Title),
    sort_order: Type.Optional(Order),
    is_milestone: Type.Optional(Type.Boolean()),
    completion: Type.Optional(Percent),
    ...wbsRest,
  },
  closed,
);
export const CompletionSchema = Type.Object({ completion: Percent }, { $id: 'PpmCompletion', ...closed });

export const dependency = named('PpmDependency', {
  ...ofInitiative,
  pred_kind: PlanKindSchema,
  pred_id: Uuid,
  succ_kind: PlanKindSchema,
  succ_id: Uuid,
  kind: Type.Literal('FS'),
  created_at: Timestamp,
});
export const DependencyBody = Type.Object(
  {
    pred_kind: PlanKindSchema,
    pred_id: Type.String({ ...Uuid, description: 'What has to be finished first' }),
    succ_kind: PlanKindSchema,
    succ_id: Type.String({ ...Uuid, description: 'What starts after it' }),
    kind: Type.Literal('FS', { default: 'FS' }),
  },
  closed,
);

const Day = Nullable(Type.String({ format: 'date', description: 'Null where it lies beyond the year 9999' }));
const scheduled = {
  kind: PlanKindSchema,
  id: Uuid,
  title: Type.String(),
  wbs_id: Nullable(Type.String({ ...Uuid, description: 'The WBS item above' })),
  duration: Type.Integer({ minimum: 0, description: 'Days; of a WBS item those that it spans' }),
  earliest_start: Day,
  earliest_end: Day,
  latest_start: Day,
  latest_end: Day,
  slack: Type.Integer({ minimum: 0, description: 'Days that it may be late without making the plan late' }),
  critical: Type.Boolean({ description: 'Whether it has no slack' }),
};
export const CriticalPathSchema = Type.Object(
  {
    initiative_id: Uuid,
    start_date: DateOnly,
    end_date: Day,
    duration: Type.Integer({ minimum: 0, description: 'Days from the start to the end' }),
    critical_path: Type.Array(Type.Object({ kind: PlanKindSchema, id: Uuid, title: Type.String() }, closed), {
      description: 'What has no slack and nothing below it, in the order in which it starts',
    }),
    items: Type.Array(Type.Object(scheduled, closed), {
      description: 'Everything in the plan, by earliest start',
    }),
  },
  { $id: 'PpmCriticalPath', ...closed },
);
