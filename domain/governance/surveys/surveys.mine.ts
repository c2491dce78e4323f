import { queryRows } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Fragment, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';

/** Questions of one survey that a list spells out. */
const LISTED = 500;

/** The questions that wait for the caller, on active cards that the caller sees: the aliases `r`, `c` and `s`. */
function waiting(ctx: Ctx): Fragment {
  const visible = visibleCards(ctx);
  return {
    sql: `survey_responses r join cards c on c.id = r.card_id
      where r.survey_id = s.id and r.user_id = ?::uuid and r.status = 'pending' and c.status = 'ACTIVE'
        and (${visible.sql})`,
    bindings: [ctx.caller.userId, ...visible.bindings],
  };
}

/**
 * Whoever may answer surveys, or is asked in one: a role on a card is enough to be asked about it.
 * @throws EstateError `forbidden`.
 */
async function requireAsked(ctx: Ctx): Promise<void> {
  if (may(ctx.caller, 'surveys.respond')) return;
  const { rows } = await ctx.db.raw(
    `select from survey_responses r join surveys s on s.id = r.survey_id
     where r.user_id = ?::uuid and s.status = 'active' limit 1`,
    [ctx.caller.userId],
  );
  if (rows.length === 0) throw forbidden('surveys.respond');
}

/**
 * The surveys that wait for the caller's answers, the last sent first, each with the cards that it asks about: the first
 * 500 by name.
 * @throws EstateError `forbidden`.
 */
export async function listMySurveys(ctx: Ctx, params: ListParams): Promise<JsonText> {
  await requireAsked(ctx);
  const mine = waiting(ctx);
  const spec: ListSpec = {
    name: 'my-surveys',
    from: 'surveys s',
    id: 's.id',
    idType: 'uuid',
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
      pending_count: { sql: `(select count(*) from ${mine.sql})`, bindings: mine.bindings },
      items: {
        sql: `(select coalesce(json_agg(item), '[]') from (
                 select json_build_object('response_id', r.id, 'card_id', c.id, 'card_name', c.name) as item
                 from ${mine.sql} order by lower(c.name), c.id, r.id limit ${LISTED}) listed)`,
        bindings: mine.bindings,
      },
    },
  };
  const open = {
    sql: `s.status = 'active' and exists (select from ${mine.sql})`,
    bindings: mine.bindings,
    visibility: true,
  } as const;
  return await runList(ctx.db, spec, [open], params, { owner: ctx.caller.userId });
}

/** The number of pending responses of the caller. */
export async function countPendingSurveys(ctx: Ctx): Promise<number> {
  const mine = waiting(ctx);
  const [pending] = await queryRows<{ n: number }>(
    ctx.db,
    `select count(*)::int as n from surveys s, ${mine.sql} and s.status = 'active'`,
    mine.bindings,
  );
  return pending!.n;
}
