import Type from 'typebox';
import { query, type Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { findItem, runList } from '../../kernel/lists/lists.run.ts';
import type {
  Condition,
  Fragment,
  JsonText,
  ListParams,
  ListSpec,
  SortField,
} from '../../kernel/lists/lists.types.ts';
import { may, requirePermission, requireScope } from '../../kernel/permissions/policy.ts';
import { Choice, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { requireVisibleCard } from '../cards.access.ts';
import { Todo } from '../collaboration.model.ts';
import { todoStates } from './todos.rules.ts';

export const todoSorts: Record<string, SortField> = {
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
  due_date: { sql: 't.due_date::text', type: 'text' },
  status: { sql: 't.status', type: 'text' },
  description: { sql: 'fold(t.description)', type: 'text' },
};

/** The filters of a card's to-dos. */
export const cardTodoFilters = {
  status: Type.Optional(Choice(todoStates, 'Only those in this state')),
};
export const todoFilters = {
  ...cardTodoFilters,
  assigned_to: Type.Optional(Type.String({ ...Uuid, description: 'Only those assigned to this user' })),
  mine: Type.Boolean({ default: true, description: '`false`: those of all users' }),
  assigned_only: Type.Boolean({ default: false, description: 'Only those assigned to the caller' }),
  created_only: Type.Boolean({ default: false, description: 'Only those created by the caller' }),
};

const {
  topic: _topic,
  subject_id: _subjectId,
  recurrence_day: _recurrenceDay,
  updated_at: _updatedAt,
  ...todoColumns
} = columnMembers('t', Todo);

/** To-dos over the alias `t`; the name and type of a card show to those who see it. */
function todoList(ctx: Ctx): ListSpec {
  const visible = visibleCards(ctx);
  const ofCard = (column: string): Fragment => ({
    sql: `(select c.${column} from cards c where c.id = t.card_id and (${visible.sql}))`,
    bindings: visible.bindings,
  });
  return {
    name: 'todos',
    from: 'todos t left join users a on a.id = t.assigned_to',
    id: 't.id',
    sorts: todoSorts,
    defaultSort: 'created_at',
    defaultDir: 'desc',
    search: 'fold(t.description)',
    members: {
      ...todoColumns,
      card_name: ofCard('name'),
      card_type: ofCard('type'),
      assignee_name: 'a.display_name',
    },
  };
}

/** One to-do as its JSON text after a write. */
export async function todoText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  return (await findItem(sql, todoList(ctx), id))!;
}

/**
 * To-dos, newest first: those assigned to or created by the caller, or with `admin.todos` those of all users.
 * @throws EstateError `forbidden`.
 */
export async function listTodos(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof todoFilters>,
): Promise<JsonText> {
  const me = ctx.caller.userId;
  if (!may(ctx.caller, 'admin.todos')) requireScope(ctx.caller, 'account');
  const conditions: Condition[] = [];
  const add = (sql: string, ...bindings: unknown[]) => void conditions.push({ sql, bindings });
  if (params.assigned_to !== undefined) {
    if (params.assigned_to.toLowerCase() !== me) requirePermission(ctx.caller, 'admin.todos');
    add('t.assigned_to = ?::uuid', params.assigned_to);
  } else if (!params.mine) {
    requirePermission(ctx.caller, 'admin.todos');
  } else if (!params.assigned_only && !params.created_only) {
    add('t.assigned_to = ?::uuid or t.created_by = ?::uuid', me, me);
  }
  if (params.assigned_only) add('t.assigned_to = ?::uuid', me);
  if (params.created_only) add('t.created_by = ?::uuid', me);
  if (params.status !== undefined) add('t.status = ?', params.status);
  return await runList(ctx.db, todoList(ctx), conditions, params, { owner: me });
}

/** The to-dos of a card that the caller sees. @throws EstateError `not_found`, `forbidden`. */
export async function listCardTodos(
  ctx: Ctx,
  cardId: string,
  params: ListParams & StaticOf<typeof cardTodoFilters>,
): Promise<JsonText> {
  const card = await requireVisibleCard(ctx.db, ctx, cardId);
  const conditions: Condition[] = [{ sql: 't.card_id = ?::uuid', bindings: [card.id] }];
  if (params.status !== undefined) conditions.push({ sql: 't.status = ?', bindings: [params.status] });
  return await runList(ctx.db, todoList(ctx), conditions, params, { owner: ctx.caller.userId });
}

/** How many open to-dos are assigned to the caller. */
export async function countOpenTodos(ctx: Ctx): Promise<number> {
  const [open] = await query(ctx.db).rows<{ n: number }>`select count(*) as n from todos
    where assigned_to = ${ctx.caller.userId}::uuid and status = 'open'`;
  return open!.n;
}
