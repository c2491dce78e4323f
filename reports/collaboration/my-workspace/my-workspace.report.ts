import Type from 'typebox';
import { embed, fragment, query } from '../../../platform/database.ts';
import { figuresTable } from '../../kernel/report.formats.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, reportSchema } from '../../kernel/report.ts';

const figures = [
  'favorite_count',
  'stakeholder_card_count',
  'open_todo_count',
  'pending_survey_count',
  'attention_count',
  'overdue_todo_count',
  'broken_card_count',
  'created_count',
] as const;
type Figure = (typeof figures)[number];

/** The counts in the order of the chart, with the tone of those that are not zero. */
const tones: Record<Figure, 'bad' | 'warn' | undefined> = {
  attention_count: 'warn',
  open_todo_count: undefined,
  overdue_todo_count: 'bad',
  pending_survey_count: undefined,
  broken_card_count: 'warn',
  stakeholder_card_count: undefined,
  favorite_count: undefined,
  created_count: undefined,
};

const Count = Type.Integer({ minimum: 0 });
const Result = reportSchema(
  'MyWorkspace',
  Object.fromEntries(figures.map((name) => [name, Count])) as Record<Figure, typeof Count>,
);

/** Open tasks and cards of the caller. */
export const myWorkspaceReport = defineReport({
  name: 'my-workspace',
  id: 'readMyWorkspace',
  summary: 'Read your open tasks, and the number of your cards',
  description:
    'Counts your favorite cards, the cards on which you have a role, and those that you have created. To-dos are your open ones; with a filter only those on its cards. `attention_count` is the sum of overdue to-dos, pending survey responses and broken approvals.',
  permission: 'login',
  scope: 'account',
  params: {},
  result: Result,
  reads: { cards: ['type', 'status', 'approval_status', 'created_by'], relations: [], others: true },
  async compute({ sql, ctx, cards, filtered, asOf }) {
    const me = ctx.caller.userId;
    const ofCards = filtered
      ? fragment`and t.card_id in (select c.id from cards c where ${embed(cards)})`
      : fragment``;
    return await query(sql).value`with mine as (
         select count(*) as cards, count(*) filter (where c.approval_status = 'BROKEN') as broken
         from cards c
         where c.id in (select s.card_id from stakeholders s where s.user_id = ${me}::uuid) and ${embed(cards)}
       ), todo as (
         select count(*) as open, count(*) filter (where t.due_date < ${asOf}::timestamptz::date) as overdue
         from todos t where t.assigned_to = ${me}::uuid and t.status = 'open' ${embed(ofCards)}
       ), asked as (
         select count(*) as pending
         from survey_responses r join surveys s on s.id = r.survey_id join cards c on c.id = r.card_id
         where r.user_id = ${me}::uuid and r.status = 'pending' and s.status = 'active' and ${embed(cards)}
       )
       select json_build_object(
         'favorite_count', (select count(*) from favorites f join cards c on c.id = f.card_id
                            where f.user_id = ${me}::uuid and ${embed(cards)}),
         'stakeholder_card_count', mine.cards,
         'open_todo_count', todo.open,
         'pending_survey_count', asked.pending,
         'attention_count', todo.overdue + asked.pending + mine.broken,
         'overdue_todo_count', todo.overdue,
         'broken_card_count', mine.broken,
         'created_count', (select count(*) from cards c where c.created_by = ${me}::uuid and ${embed(cards)}))::text
       from mine, todo, asked`;
  },
  chart: (result, _params, context) => ({
    kind: 'figures',
    title: reportText(context, 'workspace.title'),
    items: (Object.keys(tones) as Figure[]).map((key) => {
      const value = result[key];
      const tone = tones[key];
      return {
        name: reportText(context, `workspace.${key}`),
        value,
        unit: 'count',
        hint: reportText(context, `workspace.${key}.hint`),
        ...(tone && value > 0 ? { tone } : {}),
      };
    }),
  }),
  tables: ({ position: _, ...result }) => [figuresTable('figures', result)],
});
