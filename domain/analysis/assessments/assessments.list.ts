import Type from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Fragment, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { StaticOf } from '../../kernel/shapes.ts';
import { equalTo } from '../runs/analysis.lists.ts';
import { Assessment } from './assessments.model.ts';

/** The member of sessions that contains costs, besides the cost attributes of cards. */
const MONEY = 'annual_cost';

/** The session without costs, unless the caller has `costs.view`. */
function visibleSession(ctx: Ctx): Fragment {
  if (may(ctx.caller, 'costs.view')) return { sql: 'a.session_data', bindings: [] };
  const names = new Set([
    MONEY,
    ...[...ctx.metamodel.cardTypes.values()].flatMap(({ costKeys }) => costKeys),
  ]);
  return { sql: 'cut_members(a.session_data, ?::text[])', bindings: [[...names]] };
}

export const assessmentSorts: Record<string, SortField> = {
  title: { sql: 'lower(a.title)', type: 'text', filled: true },
  created_at: { sql: 'a.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 'a.updated_at', type: 'timestamptz', filled: true },
};

export const assessmentFilters = { status: Type.Optional(Assessment.columns.status) };

function assessmentList(ctx: Ctx, whole: boolean): ListSpec {
  const visible = visibleCards(ctx);
  return {
    name: 'assessments',
    from: 'assessments a left join users u on u.id = a.created_by',
    id: 'a.id',
    sorts: assessmentSorts,
    defaultSort: 'created_at',
    defaultDir: 'desc',
    search: `fold(a.title || ' ' || a.requirement)`,
    members: {
      ...columnMembers('a', Assessment),
      initiative_name: {
        sql: `(select c.name from cards c where c.id = a.initiative_id and (${visible.sql}))`,
        bindings: visible.bindings,
      },
      created_by_name: 'u.display_name',
      session_data: whole ? visibleSession(ctx) : 'null::jsonb',
      decision_draft: whole ? 'a.decision_draft' : 'null::text',
    },
  };
}

/** The sessions, without their data. */
export async function listAssessments(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof assessmentFilters>,
): Promise<JsonText> {
  const where = equalTo({ 'a.status': params.status });
  return await runList(ctx.db, assessmentList(ctx, false), where, params, { owner: ctx.caller.userId });
}

/** One session without values that the caller may not see. @throws EstateError `not_found`. */
export const assessmentText = (sql: Sql, ctx: Ctx, id: string): Promise<JsonText> =>
  readItem(sql, assessmentList(ctx, true), 'assessment', id);
