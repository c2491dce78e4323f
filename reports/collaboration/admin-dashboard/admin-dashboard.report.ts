import Type, { type Static } from 'typebox';
import {
  arrayOf,
  Count,
  DateOnly,
  IntegerIn,
  Nullable,
  object,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { embed, query } from '../../../platform/database.ts';
import { eventsTable, RecentEvents, recentEvents } from '../../inventory/dashboard/dashboard.events.ts';
import { type ChartContext, typePlural } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { figuresTable, resultTable } from '../../kernel/report.formats.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, type ReportInput, reportSchema } from '../../kernel/report.ts';

const counts = <K extends string>(...names: K[]) =>
  Object.fromEntries(names.map((name) => [name, Count])) as Record<K, typeof Count>;
const Text = Type.String();

const Result = reportSchema('AdminDashboard', {
  kpis: object(
    counts(
      'total_users',
      'active_users_30d',
      'cards_without_stakeholders',
      'overdue_todos_total',
      'stuck_approvals',
      'broken_total',
      'pending_sso_invitations',
      'unassigned_todo_count',
    ),
  ),
  top_contributors: arrayOf({ user_id: Uuid, display_name: Text, count: Count }),
  stakeholder_coverage: arrayOf({ type: Text, ...counts('total', 'with_stakeholders', 'missing') }),
  idle_users: arrayOf({ id: Uuid, display_name: Text, email: Text, last_login: Nullable(Timestamp) }),
  approval_pipeline: arrayOf({ type: Text, ...counts('draft', 'approved', 'rejected', 'broken') }),
  recent_activity: RecentEvents,
  oldest_overdue_todos: arrayOf({
    id: Uuid,
    description: Text,
    due_date: DateOnly,
    card_id: Nullable(Uuid),
    card_name: Nullable(Text),
    assignee_name: Nullable(Text),
  }),
});
type Result = Static<typeof Result>;

/** Days without a login after which an account counts as idle. */
const IDLE_DAYS = 90;
/** Days over which activity is counted, and after which an unchanged draft counts as stuck. */
const ACTIVE_DAYS = 30;

type Input = ReportInput<{ top: number }>;

interface CardFigures {
  kpis: Record<string, number>;
  stakeholder_coverage: Result['stakeholder_coverage'];
  approval_pipeline: Result['approval_pipeline'];
}

/** Counts over cards, in one pass. */
const cardFigures = ({ sql, cards, asOf }: Input): Promise<CardFigures> =>
  query(sql).value`with counted as (
       select c.type, count(*) as total, count(h.card_id) as with_roles,
              count(*) filter (where c.approval_status = 'DRAFT') as draft,
              count(*) filter (where c.approval_status = 'APPROVED') as approved,
              count(*) filter (where c.approval_status = 'REJECTED') as rejected,
              count(*) filter (where c.approval_status = 'BROKEN') as broken,
              count(*) filter (where c.approval_status = 'DRAFT'
                and c.created_at < ${asOf}::timestamptz - make_interval(days => ${embed(ACTIVE_DAYS)})
                and c.updated_at < ${asOf}::timestamptz - make_interval(days => ${embed(ACTIVE_DAYS)})) as stuck
       from cards c left join (select distinct card_id from stakeholders) h on h.card_id = c.id
       where ${embed(cards)} group by c.type
     )
     select json_build_object(
       'kpis', json_build_object('cards_without_stakeholders', coalesce(sum(total - with_roles), 0)::bigint,
         'stuck_approvals', coalesce(sum(stuck), 0)::bigint, 'broken_total', coalesce(sum(broken), 0)::bigint),
       'stakeholder_coverage', coalesce(json_agg(json_build_object('type', type, 'total', total,
         'with_stakeholders', with_roles, 'missing', total - with_roles) order by type), '[]'),
       'approval_pipeline', coalesce(json_agg(json_build_object('type', type, 'draft', draft, 'approved', approved,
         'rejected', rejected, 'broken', broken) order by type), '[]')) as result
     from counted`;

interface PeopleFigures {
  kpis: Record<string, number>;
  idle_users: Result['idle_users'];
  top_contributors: Result['top_contributors'];
}

const peopleFigures = ({ sql, params, asOf }: Input): Promise<PeopleFigures> =>
  query(sql).value`with person as (
       select u.* from users u where u.kind = 'person' and u.is_active
     ), idle as (
       select u.id, u.display_name, u.email, utc(u.last_login) as last_login
       from person u where coalesce(u.last_login, u.created_at) < ${asOf}::timestamptz - make_interval(days => ${embed(IDLE_DAYS)})
       order by u.last_login nulls first, u.id limit ${params.top}
     ), contributor as (
       select u.id as user_id, u.display_name, count(*) as count
       from events e join users u on u.id = e.user_id
       where e.scope = 'inventory' and e.at > ${asOf}::timestamptz - make_interval(days => ${embed(ACTIVE_DAYS)})
       group by u.id, u.display_name order by count(*) desc, u.id limit ${params.top}
     )
     select json_build_object(
       'kpis', (select json_build_object('total_users', count(*),
                  'active_users_30d', count(*) filter (where u.last_login > ${asOf}::timestamptz - make_interval(days => ${embed(ACTIVE_DAYS)})),
                  'pending_sso_invitations', count(*) filter (where u.auth_provider = 'sso' and u.last_login is null))
                from person u),
       'idle_users', (select coalesce(json_agg(i order by i.last_login nulls first, i.id), '[]') from idle i),
       'top_contributors', (select coalesce(json_agg(k order by k.count desc, k.user_id), '[]') from contributor k))
       as result`;

interface TodoFigures {
  kpis: Record<string, number>;
  oldest_overdue_todos: Result['oldest_overdue_todos'];
}

/** To-dos on the report's cards and, without a filter, those without a card. */
const todoFigures = ({ sql, cards, filtered, params, asOf }: Input): Promise<TodoFigures> =>
  query(sql).value`with open as (
       select t.id, t.description, t.due_date, t.assigned_to, c.id as card_id, c.name as card_name,
              coalesce(t.due_date < ${asOf}::timestamptz::date, false) as overdue
       from todos t left join (select c.id, c.name from cards c where ${embed(cards)}) c on c.id = t.card_id
       where t.status = 'open' and (c.id is not null ${embed(filtered ? '' : 'or t.card_id is null')})
     ), oldest as (
       select o.id, o.description, o.due_date, o.card_id, o.card_name, u.display_name as assignee_name
       from open o left join users u on u.id = o.assigned_to
       where o.overdue order by o.due_date, o.id limit ${params.top}
     )
     select json_build_object(
       'kpis', (select json_build_object('overdue_todos_total', count(*) filter (where overdue),
                  'unassigned_todo_count', count(*) filter (where assigned_to is null)) from open),
       'oldest_overdue_todos', (select coalesce(json_agg(o order by o.due_date, o.id), '[]') from oldest o)) as result`;

/** Users, responsibilities, approvals and to-dos, for administrators. */
export const adminDashboardReport = defineReport({
  name: 'admin-dashboard',
  id: 'readAdminDashboard',
  summary: 'Read user activity and neglected work',
  description: `Users are the current active accounts of persons; idle ones have not logged in for ${IDLE_DAYS} days. \`active_users_30d\` and contributors count the last ${ACTIVE_DAYS} days. An approval counts as stuck if a draft has not changed for ${ACTIVE_DAYS} days. Without \`costs.view\` events contain no costs.`,
  permission: 'admin.users',
  params: {
    top: IntegerIn(0, 1000, 'Maximum number of users, events and to-dos in each list', 20),
  },
  result: Result,
  reads: {
    cards: ['type', 'name', 'status', 'approval_status', 'created_at', 'updated_at'],
    relations: [],
    others: true,
  },
  async compute(input) {
    const cards = await cardFigures(input);
    const people = await peopleFigures(input);
    const todos = await todoFigures(input);
    return JSON.stringify({
      kpis: { ...people.kpis, ...cards.kpis, ...todos.kpis },
      top_contributors: people.top_contributors,
      stakeholder_coverage: cards.stakeholder_coverage,
      idle_users: people.idle_users,
      approval_pipeline: cards.approval_pipeline,
      recent_activity: await recentEvents(input, input.params.top),
      oldest_overdue_todos: todos.oldest_overdue_todos,
    });
  },
  chart: (result, _params, context) => adminDashboardChart(result, context),
  tables: (result) => [
    figuresTable('kpis', result.kpis),
    resultTable(Result, result, 'top_contributors'),
    resultTable(Result, result, 'stakeholder_coverage'),
    resultTable(Result, result, 'idle_users'),
    resultTable(Result, result, 'approval_pipeline'),
    eventsTable('recent_activity', result.recent_activity),
    resultTable(Result, result, 'oldest_overdue_todos'),
  ],
});

/** The figures of the chart. */
const shownFigures = [
  'total_users',
  'active_users_30d',
  'pending_sso_invitations',
  'cards_without_stakeholders',
  'broken_total',
  'stuck_approvals',
  'overdue_todos_total',
  'unassigned_todo_count',
] as const satisfies (keyof Result['kpis'])[];

/** Key figures, cards with and without stakeholders, and approval statuses. */
function adminDashboardChart(result: Result, context: ChartContext): Chart {
  const bars = {
    kind: 'bars',
    itemAxis: reportText(context, 'axis.type'),
    valueAxis: reportText(context, 'axis.cards'),
    unit: 'count',
    parts: true,
  } as const;
  const coverage = result.stakeholder_coverage.toSorted((a, b) => b.missing - a.missing);
  const approvals = result.approval_pipeline.toSorted((a, b) => b.broken - a.broken || b.draft - a.draft);
  return {
    kind: 'panels',
    title: reportText(context, 'admin.title'),
    panels: [
      {
        kind: 'figures',
        title: reportText(context, 'admin.figures'),
        items: shownFigures.map((key) => ({
          name: reportText(context, `admin.${key}`),
          hint: reportText(context, `admin.${key}.hint`, { days: ACTIVE_DAYS }),
          value: result.kpis[key],
          unit: 'count',
        })),
      },
      {
        ...bars,
        title: reportText(context, 'admin.coverage'),
        series: [reportText(context, 'admin.with'), reportText(context, 'admin.without')],
        paints: ['accent', 'others'],
        items: coverage.map((row) => ({
          name: typePlural(context, row.type),
          values: [row.with_stakeholders, row.missing],
        })),
      },
      {
        ...bars,
        title: reportText(context, 'admin.approvals'),
        series: [
          reportText(context, 'admin.approved'),
          reportText(context, 'admin.draft'),
          reportText(context, 'admin.broken'),
          reportText(context, 'admin.rejected'),
        ],
        paints: [{ tone: 'ok' }, 'others', { quality: 1 }, { tone: 'bad' }],
        items: approvals.map((row) => ({
          name: typePlural(context, row.type),
          values: [row.approved, row.draft, row.broken, row.rejected],
        })),
      },
    ],
  };
}
