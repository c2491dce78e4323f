import { embed, fragment, query } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { duplicatePairList, visiblePairs } from '../analysis/duplicates/duplicates.commands.ts';
import { todoList } from '../collaboration/todos/todos.commands.ts';
import { myCardEventList } from '../collaboration/views/events.mine.ts';
import { favoriteList } from '../collaboration/views/favorites.ts';
import { reviewItemList } from '../exchange/itsm/review.queries.ts';
import { mySurveyList } from '../governance/surveys/surveys.list.ts';
import { visibleCards } from '../inventory/cards/cards.projection.ts';
import { isWork } from '../inventory/metamodel/renames/renames.events.ts';
import type { Ctx } from '../kernel/context.ts';
import { defineList, readList } from '../kernel/lists/lists.define.ts';
import type { Fragment, JsonText } from '../kernel/lists/lists.types.ts';

/** Whether the caller has a role on the card with this id. */
const isMine = ({ caller }: Ctx, id: string): Fragment =>
  fragment`exists (select from stakeholders h where h.user_id = ${caller.userId}::uuid and h.card_id = ${embed(id)})`;

const myDuplicates = defineList({
  ...duplicatePairList,
  name: 'my-duplicates',
  where: (ctx) => [
    visiblePairs(ctx),
    fragment`${embed(isMine(ctx, 'p.left_id'))} or ${embed(isMine(ctx, 'p.right_id'))}`,
  ],
});

const myConflicts = defineList({
  ...reviewItemList,
  name: 'my-conflicts',
  where: async (ctx, params) => [
    ...((await reviewItemList.where?.(ctx, params)) ?? []),
    isMine(ctx, 'q.card_id'),
  ],
});

const myWork = defineList({
  ...myCardEventList,
  name: 'my-work',
  where: async (ctx, params) => [...((await myCardEventList.where?.(ctx, params)) ?? []), isWork],
});

/** The first cards of a query over `c`, with their number. */
async function cards(ctx: Ctx, from: Fragment, size: number): Promise<JsonText> {
  return await query(ctx.db).value<JsonText>`with found as (
      select c.id, c.type, c.subtype, c.name, c.approval_status, c.data_quality, c.updated_at, o.n
      from (${embed(from)}) o join cards c on c.id = o.id where ${embed(visibleCards(ctx))}
    )
    select json_build_object('total', (select count(*) from found), 'items', coalesce((
      select json_agg(json_build_object('id', f.id, 'type', f.type, 'subtype', f.subtype, 'name', f.name,
        'approval_status', f.approval_status, 'data_quality', f.data_quality, 'updated_at', utc(f.updated_at)) order by f.n)
      from (select * from found order by n limit ${size}) f), '[]'))::text`;
}

/** How many of the caller's last writes are searched for recent cards. */
const RECENT_EVENTS = 200;

const parts = {
  todos: (ctx: Ctx, page_size: number) =>
    readList(ctx, todoList, {
      ...{ page: 1, page_size, sort_by: 'due_date', sort_dir: 'asc', status: 'open' },
      ...{ mine: true, assigned_only: true, created_only: false },
    }),
  surveys: (ctx: Ctx, page_size: number) => readList(ctx, mySurveyList, { page: 1, page_size }),
  approvals: (ctx: Ctx, page_size: number) =>
    cards(
      ctx,
      fragment`select c.id, row_number() over (order by c.updated_at desc, c.id) as n from cards c
        where c.status = 'ACTIVE' and c.approval_status = 'BROKEN' and ${embed(isMine(ctx, 'c.id'))}`,
      page_size,
    ),
  conflicts: (ctx: Ctx, page_size: number) => readList(ctx, myConflicts, { page: 1, page_size }),
  duplicates: (ctx: Ctx, page_size: number) =>
    readList(ctx, myDuplicates, { page: 1, page_size, status: 'pending' }),
  changes: (ctx: Ctx, page_size: number) => readList(ctx, myWork, { page: 1, page_size, cursor: '' }),
  recent: (ctx: Ctx, page_size: number) =>
    cards(
      ctx,
      fragment`select card_id as id, min(n) as n from (
          select e.card_id, row_number() over (order by e.position desc) as n from events e
          where e.user_id = ${ctx.caller.userId}::uuid and e.card_id is not null and ${embed(isWork)}
          order by e.position desc limit ${RECENT_EVENTS}) e group by card_id`,
      page_size,
    ),
  favorites: (ctx: Ctx, page_size: number) => readList(ctx, favoriteList, { page: 1, page_size }),
};

export const homeParts = Object.keys(parts) as (keyof typeof parts)[];

/**
 * What waits for the caller and what the caller works on: the first items of each list. Lists that the caller may not see
 * are null.
 */
export async function readHome(
  ctx: Ctx,
  include: readonly (keyof typeof parts)[],
  page_size: number,
): Promise<JsonText> {
  const members: string[] = [];
  for (const part of include) {
    const text = await parts[part](ctx, page_size).catch((error) => {
      if (error instanceof EstateError && error.code === 'forbidden') return 'null';
      throw error;
    });
    members.push(`"${part}":${text}`);
  }
  return `{${members.join(',')}}`;
}
