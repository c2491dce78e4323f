import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { itemText } from '../../collaboration/items.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, Fragment, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { holderWithin, holdsCostRole, may, requirePermission } from '../../kernel/permissions/policy.ts';
import type { SurveyStatus } from './surveys.types.ts';

const counted = (filter: string) =>
  `(select count(*) from survey_responses r where r.survey_id = s.id${filter})`;

const surveyList: ListSpec = {
  name: 'surveys',
  from: 'surveys s left join users a on a.id = s.created_by',
  id: 's.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 's.created_at', type: 'timestamptz', immutable: true },
    name: { sql: 'lower(s.name)', type: 'text', filled: true },
    status: { sql: 's.status', type: 'text', filled: true },
    sent_at: { sql: 's.sent_at', type: 'timestamptz' },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(s.name)',
  members: {
    id: 's.id',
    name: 's.name',
    description: 's.description',
    message: 's.message',
    status: 's.status',
    target_type_key: 's.target_type_key',
    target_filters: 's.target_filters',
    target_roles: 's.target_roles',
    fields: 's.fields',
    created_by: 's.created_by',
    creator_name: 'a.display_name',
    sent_at: 'utc(s.sent_at)',
    closed_at: 'utc(s.closed_at)',
    created_at: 'utc(s.created_at)',
    updated_at: 'utc(s.updated_at)',
    total_responses: counted(''),
    completed_responses: counted(" and r.status = 'completed'"),
    applied_responses: counted(' and r.applied'),
  },
};

/** Surveys with the numbers of their responses, newest first. @throws EstateError `forbidden`. */
export async function listSurveys(
  ctx: Ctx,
  params: ListParams & { status?: SurveyStatus },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'surveys.manage');
  const where: Condition[] =
    params.status === undefined ? [] : [{ sql: 's.status = ?', bindings: [params.status] }];
  return await runList(ctx.db, surveyList, where, params, { owner: ctx.caller.userId });
}

/** One survey. @throws EstateError `forbidden`, `not_found`. */
export async function readSurvey(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'surveys.manage');
  return await surveyText(ctx.db, id);
}

/** One survey as its JSON text. @throws EstateError `not_found`. */
export async function surveyText(sql: Sql, id: string): Promise<JsonText> {
  const text = await itemText(sql, surveyList, id);
  if (text === undefined) throw notFound('survey', id);
  return text;
}

/** The answers as the caller may see them: costs show with `costs.view` or a role on the card. */
function visibleAnswers(ctx: Ctx): Fragment {
  if (may(ctx.caller, 'costs.view')) return { sql: 'r.responses', bindings: [] };
  return {
    sql: `case when ${holdsCostRole('r.card_id')}
          then r.responses else r.responses - r.cost_keys end`,
    bindings: [holderWithin(ctx.caller, 'costs.view')],
  };
}

/** Who was asked about which card, and what was answered. @throws EstateError `forbidden`, `not_found`. */
export async function listResponses(
  ctx: Ctx,
  id: string,
  params: ListParams & { status?: 'pending' | 'completed' },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'surveys.manage');
  if (!(await ctx.db('surveys').where({ id }).first('id'))) throw notFound('survey', id);
  const spec: ListSpec = {
    name: 'survey-responses',
    from: 'survey_responses r join cards c on c.id = r.card_id left join users u on u.id = r.user_id',
    id: 'r.id',
    idType: 'uuid',
    sorts: {
      created_at: { sql: 'r.created_at', type: 'timestamptz', immutable: true },
      responded_at: { sql: 'r.responded_at', type: 'timestamptz' },
      card_name: { sql: 'lower(c.name)', type: 'text', filled: true },
      user_display_name: { sql: 'lower(u.display_name)', type: 'text' },
    },
    defaultSort: 'created_at',
    defaultDir: 'asc',
    search: 'fold(c.name)',
    members: {
      id: 'r.id',
      survey_id: 'r.survey_id',
      card_id: 'r.card_id',
      card_name: 'c.name',
      card_type: 'c.type',
      user_id: 'r.user_id',
      user_display_name: 'u.display_name',
      user_email: 'u.email',
      status: 'r.status',
      responses: visibleAnswers(ctx),
      applied: 'r.applied',
      responded_at: 'utc(r.responded_at)',
      applied_at: 'utc(r.applied_at)',
      created_at: 'utc(r.created_at)',
    },
  };
  const where: Condition[] = [{ sql: 'r.survey_id = ?::uuid', bindings: [id] }, visibleCards(ctx)];
  if (params.status !== undefined) where.push({ sql: 'r.status = ?', bindings: [params.status] });
  return await runList(ctx.db, spec, where, params, { owner: ctx.caller.userId });
}
