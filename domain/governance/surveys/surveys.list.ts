import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList, ofParent } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import type { Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, hasCostRole, may } from '../../kernel/permissions/policy.ts';
import { Choice } from '../../kernel/shapes.ts';
import { responseStatuses, Survey, SurveyResponse, surveyStatuses } from './surveys.model.ts';

const counted = (filter: string) =>
  `(select count(*) from survey_responses r where r.survey_id = s.id${filter})`;

/** Surveys with the numbers of their responses, newest first. */
export const surveyList = defineList({
  name: 'surveys',
  permission: 'surveys.manage',
  filters: { status: [Choice(surveyStatuses, 'Only those in this state'), 's.status = ?'] },
  from: 'surveys s left join users a on a.id = s.created_by',
  id: 's.id',
  sorts: {
    ...columnSorts('s', Survey, 'created_at', 'status', 'sent_at'),
    name: { sql: 'lower(s.name)', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(s.name)',
  members: {
    ...columnMembers('s', Survey),
    creator_name: 'a.display_name',
    total_responses: counted(''),
    completed_responses: counted(" and r.status = 'completed'"),
    applied_responses: counted(' and r.applied'),
  },
});

/** One survey as its JSON text. @throws EstateError `not_found`. */
export async function surveyText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, surveyList, 'survey', id);
}

/**
 * The answers as far as they are visible to the caller: costs need `costs.view` or a role on the card, relations
 * `relations.view`.
 */
function visibleAnswers(ctx: Ctx): Fragment {
  const answers = may(ctx.caller, 'relations.view')
    ? 'r.responses'
    : `(r.responses - array(select k from jsonb_object_keys(r.responses) k where k like 'relations.%'))`;
  if (may(ctx.caller, 'costs.view')) return { sql: answers, bindings: [] };
  return fragment`case when ${embed(hasCostRole(ctx.caller, 'r.card_id'))}
          then ${embed(answers)} else ${embed(answers)} - r.cost_keys end`;
}

const ofSurvey = ofParent('surveys', 'survey', 'r.survey_id');

/** The responses to a survey. */
export const surveyResponseList = defineList({
  name: 'survey-responses',
  permission: 'surveys.manage',
  from: 'survey_responses r join cards c on c.id = r.card_id left join users u on u.id = r.user_id',
  id: 'r.id',
  sorts: {
    ...columnSorts('r', SurveyResponse, 'created_at', 'responded_at'),
    card_name: { sql: 'lower(c.name)', type: 'text', filled: true },
    user_display_name: { sql: 'lower(u.display_name)', type: 'text' },
  },
  defaultSort: 'created_at',
  search: 'fold(c.name)',
  filters: { status: [Choice(responseStatuses, 'Only pending or only completed ones'), 'r.status = ?'] },
  members: {
    ...columnMembers('r', SurveyResponse.shown),
    card_name: 'c.name',
    card_type: 'c.type',
    user_display_name: 'u.display_name',
    user_email: 'u.email',
    responses: visibleAnswers,
  },
  where: async (ctx, params, id) => [...(await ofSurvey(ctx, params, id)), visibleCards(ctx)],
});

/** Maximum number of questions of a survey in a list. */
const LISTED = 500;

/** The caller's pending questions on visible active cards: the aliases `r`, `c` and `s`. */
function waiting(ctx: Ctx): Fragment {
  return fragment`survey_responses r join cards c on c.id = r.card_id
      where r.survey_id = s.id and r.user_id = ${ctx.caller.userId}::uuid and r.status = 'pending'
      and c.status = 'ACTIVE'
        and (${embed(visibleCards(ctx))})`;
}

/**
 * Requires that the caller may answer surveys, or is asked in one because of a role on a card.
 * @throws EstateError `forbidden`.
 */
async function requireAsked(ctx: Ctx): Promise<void> {
  if (may(ctx.caller, 'surveys.respond')) return;
  const rows = await query(ctx.db).rows`select from survey_responses r join surveys s on s.id = r.survey_id
     where r.user_id = ${ctx.caller.userId}::uuid and s.status = 'active' limit 1`;
  if (rows.length === 0) throw forbidden('surveys.respond');
}

/** The surveys with pending questions of the caller, the last sent first, each with its cards: the first 500 by name. */
export const mySurveyList = defineList({
  name: 'my-surveys',
  from: 'surveys s',
  id: 's.id',
  sorts: {
    sent_at: { sql: 's.sent_at', type: 'timestamptz' },
    survey_name: { sql: 'lower(s.name)', type: 'text', filled: true },
  },
  defaultSort: 'sent_at',
  defaultDir: 'desc',
  search: 'fold(s.name)',
  members: {
    survey_id: 's.id',
    survey_name: 's.name',
    survey_message: 's.message',
    survey_status: 's.status',
    target_type_key: 's.target_type_key',
    pending_count: (ctx) => fragment`(select count(*) from ${embed(waiting(ctx))})`,
    items: (ctx) => fragment`(select coalesce(json_agg(item), '[]') from (
      select json_build_object('response_id', r.id, 'card_id', c.id, 'card_name', c.name) as item
      from ${embed(waiting(ctx))} order by lower(c.name), c.id, r.id limit ${embed(LISTED)}) listed)`,
  },
  async where(ctx) {
    await requireAsked(ctx);
    const open = fragment`s.status = 'active' and exists (select from ${embed(waiting(ctx))})`;
    return [{ ...open, visibility: true }];
  },
});

/** The number of pending responses of the caller. */
export async function countPendingSurveys(ctx: Ctx): Promise<number> {
  const [pending] = await query(ctx.db).rows<{ n: number }>`select count(*)::int as n
    from surveys s, ${embed(waiting(ctx))} and s.status = 'active'`;
  return pending!.n;
}
