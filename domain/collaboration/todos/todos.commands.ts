import Type, { type Static } from 'typebox';
import { embed, fragment, query, type Sql, type Transaction } from '../../../platform/database.ts';
import { EstateError, notFound, requireText } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, findItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { forbidden, may, requirePermission, requireScope } from '../../kernel/permissions/policy.ts';
import { changeRow } from '../../kernel/resources/items.ts';
import { deleteRows, insertRow, lockRow } from '../../kernel/resources/rows.ts';
import { Choice, Clearable, Flag, object, Uuid } from '../../kernel/shapes.ts';
import { lockCard, lockCardOf, ofVisibleCard, requireVisibleCard } from '../cards.access.ts';
import { Todo, type TodoRow } from '../collaboration.model.ts';
import { type EventCard, newId, requireActiveUser, type WrittenItem } from '../items.ts';
import { todoEvent } from './todos.events.ts';
import { defaultLead, nextDue, recurrenceUnits, seriesDay, statusOn, todoStates } from './todos.rules.ts';

const ofCard = (column: string) => (ctx: Ctx) =>
  fragment`(select c.${embed(column)} from cards c
    where c.id = t.card_id and (${embed(visibleCards(ctx))}))`;

const status = [Choice(todoStates, 'Only those in this state'), 't.status = ?'] as const;

/** The to-dos of a card that the caller sees. */
export const cardTodoList = defineList({
  name: 'todos',
  from: 'todos t left join users a on a.id = t.assigned_to',
  id: 't.id',
  sorts: {
    ...columnSorts('t', Todo, 'created_at', 'due_date', 'status'),
    description: { sql: 'fold(t.description)', type: 'text' },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(t.description)',
  filters: { status },
  members: {
    ...columnMembers('t', Todo.shown),
    card_name: ofCard('name'),
    card_type: ofCard('type'),
    assignee_name: 'a.display_name',
  },
  where: ofVisibleCard('t.card_id'),
});

/** To-dos, newest first: those assigned to or created by the caller, or with `admin.todos` those of all users. */
export const todoList = defineList({
  ...cardTodoList,
  filters: {
    status,
    assigned_to: [
      Type.String({ ...Uuid, description: 'Only those assigned to this user' }),
      't.assigned_to = ?::uuid',
    ],
    mine: Type.Boolean({ default: true, description: '`false`: those of all users' }),
    assigned_only: Flag('Only those assigned to the caller'),
    created_only: Flag('Only those created by the caller'),
  },
  where(ctx, { assigned_to, mine, assigned_only, created_only }) {
    const me = ctx.caller.userId;
    const toMe = fragment`t.assigned_to = ${me}::uuid`;
    const byMe = fragment`t.created_by = ${me}::uuid`;
    if (!may(ctx.caller, 'admin.todos')) requireScope(ctx.caller, 'account');
    const isMine = assigned_to === undefined ? mine : assigned_to.toLowerCase() === me;
    if (!isMine) requirePermission(ctx.caller, 'admin.todos');
    if (assigned_only || created_only) return [assigned_only ? toMe : [], created_only ? byMe : []].flat();
    return assigned_to === undefined && mine ? [fragment`${embed(toMe)} or ${embed(byMe)}`] : [];
  },
});

/** One to-do as its JSON text after a write. */
async function todoText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  return (await findItem(sql, listFor(ctx, cardTodoList), id))!;
}

/** How many open to-dos are assigned to the caller. */
export async function countOpenTodos(ctx: Ctx): Promise<number> {
  return await query(ctx.db).value`select count(*) from todos
    where assigned_to = ${ctx.caller.userId}::uuid and status = 'open'`;
}

const Description = Todo.columns.description;
const todoInput = {
  assigned_to: Clearable(Uuid),
  due_date: Clearable(
    Type.String({ format: 'date', pattern: '^(19|2[0-9])[0-9]{2}-', examples: ['2026-03-31'] }),
  ),
  recurrence_unit: Clearable(
    Choice(recurrenceUnits, 'Recurs this unit times the interval after the due date; default `none`'),
  ),
  recurrence_interval: Clearable(Todo.columns.recurrence_interval),
  lead_time_days: Clearable(
    Type.Integer({
      ...Todo.columns.lead_time_days,
      description:
        'Days before the due date at which it opens. Default: 0, 1, 2, 7 or 14 for none, days, weeks, months and years, at most half of the interval',
    }),
  ),
};
export const TodoBody = object({ description: Description, ...todoInput });
type TodoInput = Static<typeof TodoBody>;

export const TodoPatchBody = object({
  description: Type.Optional(Description),
  status: Type.Optional(Choice(['open', 'done'])),
  ...todoInput,
});
type TodoPatch = Static<typeof TodoPatchBody>;

/**
 * Creates an open to-do, on a card that the caller sees or without one.
 * @throws EstateError `not_found`, `forbidden`, `validation_failed`.
 */
export async function createTodo(ctx: Ctx, cardId: string | null, input: TodoInput): Promise<WrittenItem> {
  // who sees no cards cannot address others either
  const isForOther = (input.assigned_to ?? ctx.caller.userId) !== ctx.caller.userId;
  if (cardId === null && isForOther) requirePermission(ctx.caller, 'inventory.view');
  return await command(ctx, async (work) => {
    const card =
      cardId === null
        ? null
        : await requireVisibleCard(work.sql, ctx, (await lockCard(work.sql, ctx, cardId)).id);
    const unit = input.recurrence_unit ?? 'none';
    const interval = input.recurrence_interval ?? 1;
    const due_date = input.due_date ?? null;
    const id = await newId(work.sql);
    const row = await insertRow(work.sql, Todo, {
      id,
      card_id: card?.id ?? null,
      description: requireText(input.description, 'description'),
      status: 'open',
      assigned_to: await assignee(work.sql, input.assigned_to ?? null),
      created_by: ctx.caller.userId,
      due_date,
      series_id: unit === 'none' ? null : id,
      recurrence_unit: unit,
      recurrence_interval: interval,
      lead_time_days: input.lead_time_days ?? defaultLead({ unit, interval }),
      recurrence_day: seriesDay(unit, due_date),
    });
    work.emit(todoEvent(card, null, row));
    return { id, text: await todoText(work.sql, ctx, id) };
  });
}

/**
 * Changes a to-do that the caller created or is assigned to, or any with `admin.todos`. When a recurring one is done, the
 * next one is created, unless the series has an unfinished one.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `validation_failed`, `wrong_state`.
 */
export async function patchTodo(ctx: Ctx, id: string, patch: TodoPatch): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { row, card, today } = await lockTodo(work, ctx, id);
    if (row.status === 'scheduled' && patch.status === 'done') {
      throw new EstateError('wrong_state', 'The to-do is scheduled; open it first.');
    }
    const after = await saveTodo(work, card, row, await patched(work.sql, row, patch, today));
    if (row.status !== 'done' && after.status === 'done') await makeNext(work, card, after, today);
    return await todoText(work.sql, ctx, row.id);
  });
}

/** Opens a scheduled to-do early. @throws EstateError as {@link patchTodo}; `wrong_state` for one that is done. */
export async function promoteTodo(ctx: Ctx, id: string): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { row, card } = await lockTodo(work, ctx, id);
    if (row.status === 'done') throw new EstateError('wrong_state', 'The to-do is done.');
    await saveTodo(work, card, row, { status: 'open' });
    return await todoText(work.sql, ctx, row.id);
  });
}

/** Deletes a to-do; a recurring one ends with it. @throws EstateError `not_found`, `forbidden`, `precondition_failed`. */
export async function deleteTodo(ctx: Ctx, id: string): Promise<void> {
  await command(ctx, async (work) => {
    const { row, card } = await lockTodo(work, ctx, id);
    await deleteRows(work.sql, Todo, (query) => query.where({ id: row.id }));
    work.emit(todoEvent(card, row, null));
  });
}

/** Writes the values that differ, with their event. */
export async function saveTodo(
  work: Work,
  card: EventCard | null,
  row: TodoRow,
  values: Partial<TodoRow>,
): Promise<TodoRow> {
  return await changeRow(work, Todo, row, values, (before, after) => todoEvent(card, before, after));
}

/**
 * A to-do that the caller may change, locked.
 * @throws EstateError `not_found` also for others' to-dos without a visible card; `forbidden` also for system to-dos.
 */
async function lockTodo(
  work: Work,
  ctx: Ctx,
  id: string,
): Promise<{ row: TodoRow; card: EventCard | null; today: string }> {
  const { sql } = work;
  const known = await sql('todos').where({ id }).first('id', 'card_id');
  if (!known) throw notFound('todo', id);
  const card = known.card_id ? await lockCardOf(sql, ctx, 'todo', known) : null;
  const row = await lockRow(sql, Todo, { id: known.id });
  if (!row) throw notFound('todo', id);
  const me = ctx.caller.userId;
  const own = row.assigned_to === me || row.created_by === me;
  if (!may(ctx.caller, 'admin.todos')) {
    if (own) requireScope(ctx.caller, 'account');
    else throw card?.isVisible ? forbidden('admin.todos') : notFound('todo', id);
  }
  if (row.is_system) {
    const detail = 'The service opened this to-do and closes it itself when the task is done.';
    throw new EstateError('forbidden', detail);
  }
  if (ctx.ifMatch) checkIfMatch(ctx, await todoText(sql, ctx, row.id));
  return { row, card, today: await query(sql).value`select current_date::text` };
}

async function patched(
  sql: Transaction,
  row: TodoRow,
  patch: TodoPatch,
  today: string,
): Promise<Partial<TodoRow>> {
  const unit = patch.recurrence_unit === undefined ? row.recurrence_unit : (patch.recurrence_unit ?? 'none');
  const interval =
    patch.recurrence_interval === undefined ? row.recurrence_interval : (patch.recurrence_interval ?? 1);
  const due_date = patch.due_date === undefined ? row.due_date : patch.due_date;
  const recurrenceChanged = unit !== row.recurrence_unit || interval !== row.recurrence_interval;
  const usesDefault =
    patch.lead_time_days === null || (patch.lead_time_days === undefined && recurrenceChanged);
  const lead = usesDefault ? defaultLead({ unit, interval }) : (patch.lead_time_days ?? row.lead_time_days);
  const moved = due_date !== row.due_date || unit !== row.recurrence_unit;
  const status = row.status === 'scheduled' ? statusOn(today, due_date, lead) : row.status;
  return {
    ...(patch.description === undefined
      ? {}
      : { description: requireText(patch.description, 'description') }),
    ...(patch.assigned_to === undefined || patch.assigned_to === row.assigned_to
      ? {}
      : { assigned_to: await assignee(sql, patch.assigned_to) }),
    status: patch.status ?? status,
    due_date,
    recurrence_unit: unit,
    recurrence_interval: interval,
    lead_time_days: lead,
    recurrence_day: moved ? seriesDay(unit, due_date) : row.recurrence_day,
    series_id: unit === 'none' ? row.series_id : (row.series_id ?? row.id),
  };
}

/** The next to-do of a series, when this one is done. */
async function makeNext(work: Work, card: EventCard | null, done: TodoRow, today: string): Promise<void> {
  const { sql } = work;
  const { recurrence_unit: unit, recurrence_interval: interval } = done;
  if (unit === 'none') return;
  const series = { series_id: done.series_id };
  const unfinished = await sql('todos').where(series).whereNot({ status: 'done' }).first('id');
  if (unfinished) return;
  const due = nextDue(done.due_date ?? today, { unit, interval }, done.recurrence_day ?? undefined);
  if (due === null) return;
  const row = await insertRow(sql, Todo, {
    card_id: done.card_id,
    description: done.description,
    status: statusOn(today, due, done.lead_time_days),
    assigned_to: done.assigned_to,
    created_by: done.created_by,
    due_date: due,
    series_id: done.series_id,
    recurrence_unit: unit,
    recurrence_interval: interval,
    lead_time_days: done.lead_time_days,
    recurrence_day: done.recurrence_day ?? seriesDay(unit, due),
  });
  work.emit(todoEvent(card, null, row));
}

async function assignee(sql: Transaction, id: string | null): Promise<string | null> {
  return id === null ? null : (await requireActiveUser(sql, id, 'assigned_to')).id;
}
