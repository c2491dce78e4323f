import type { Knex } from 'knex';
import Type from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { columnMembers, findItem, runList } from '../../kernel/lists/lists.run.ts';
import type {
  Condition,
  Fragment,
  JsonText,
  ListParams,
  ListSpec,
  SortField,
} from '../../kernel/lists/lists.types.ts';
import { forbidden, may, requirePermission, requireScope } from '../../kernel/permissions/policy.ts';
import { changeRow } from '../../kernel/resources/items.ts';
import { deleteRows, insertRow, lockRow } from '../../kernel/resources/rows.ts';
import { Choice, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { lockCard, lockCardOf, requireVisibleCard } from '../cards.access.ts';
import { Todo, type TodoRow } from '../collaboration.model.ts';
import { newId, requireActiveUser, type WrittenItem } from '../items.ts';
import { type TodoCard, todoEvent } from './todos.events.ts';
import {
  dayOf,
  defaultLead,
  nextDue,
  type RecurrenceUnit,
  statusOn,
  type TodoStatus,
  todoStates,
} from './todos.rules.ts';

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
  const ofCard = (column: string): Fragment => fragment`(select c.${embed(column)} from cards c
    where c.id = t.card_id and (${embed(visible)}))`;
  return {
    name: 'todos',
    from: 'todos t left join users a on a.id = t.assigned_to',
    id: 't.id',
    sorts: todoSorts,
    defaultSort: 'created_at',
    defaultDir: 'desc',
    search: 'fold(t.description)',
    filters: { status: 't.status = ?' },
    members: {
      ...todoColumns,
      card_name: ofCard('name'),
      card_type: ofCard('type'),
      assignee_name: 'a.display_name',
    },
  };
}

/** One to-do as its JSON text after a write. */
async function todoText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
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
  return await runList(ctx, todoList(ctx), conditions, params);
}

/** The to-dos of a card that the caller sees. @throws EstateError `not_found`, `forbidden`. */
export async function listCardTodos(
  ctx: Ctx,
  cardId: string,
  params: ListParams & StaticOf<typeof cardTodoFilters>,
): Promise<JsonText> {
  const card = await requireVisibleCard(ctx.db, ctx, cardId);
  return await runList(ctx, todoList(ctx), [fragment`t.card_id = ${card.id}::uuid`], params);
}

/** How many open to-dos are assigned to the caller. */
export async function countOpenTodos(ctx: Ctx): Promise<number> {
  return await query(ctx.db).value`select count(*) from todos
    where assigned_to = ${ctx.caller.userId}::uuid and status = 'open'`;
}

interface TodoInput {
  description: string;
  assigned_to?: string | null;
  due_date?: string | null;
  recurrence_unit?: RecurrenceUnit | null;
  recurrence_interval?: number | null;
  lead_time_days?: number | null;
}

interface TodoPatch extends Partial<TodoInput> {
  status?: Exclude<TodoStatus, 'scheduled'>;
}

/**
 * Creates an open to-do on a card that the caller sees.
 * @throws EstateError `not_found`, `forbidden`, `validation_failed`.
 */
export async function createTodo(ctx: Ctx, cardId: string, input: TodoInput): Promise<WrittenItem> {
  return await command(ctx, async (work) => {
    const card = await requireVisibleCard(work.sql, ctx, (await lockCard(work.sql, ctx, cardId)).id);
    const unit = input.recurrence_unit ?? 'none';
    const interval = input.recurrence_interval ?? 1;
    const due_date = input.due_date ?? null;
    const id = await newId(work.sql);
    const row = await insertRow(work.sql, Todo, {
      id,
      card_id: card.id,
      description: requireText(input.description),
      status: 'open',
      assigned_to: await assignee(work.sql, input.assigned_to ?? null),
      created_by: ctx.caller.userId,
      due_date,
      series_id: unit === 'none' ? null : id,
      recurrence_unit: unit,
      recurrence_interval: interval,
      lead_time_days: input.lead_time_days ?? defaultLead({ unit, interval }),
      recurrence_day: recurrenceDay(unit, due_date),
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
  card: TodoCard | null,
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
): Promise<{ row: TodoRow; card: TodoCard | null; today: string }> {
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
    throw new EstateError(
      'forbidden',
      'The service opened this to-do and closes it itself when the task is done.',
    );
  }
  if (ctx.ifMatch) checkIfMatch(ctx, await todoText(sql, ctx, row.id));
  return { row, card, today: await query(sql).value`select current_date::text` };
}

async function patched(
  sql: Knex.Transaction,
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
    ...(patch.description === undefined ? {} : { description: requireText(patch.description) }),
    ...(patch.assigned_to === undefined || patch.assigned_to === row.assigned_to
      ? {}
      : { assigned_to: await assignee(sql, patch.assigned_to) }),
    status: patch.status ?? status,
    due_date,
    recurrence_unit: unit,
    recurrence_interval: interval,
    lead_time_days: lead,
    recurrence_day: moved ? recurrenceDay(unit, due_date) : row.recurrence_day,
    series_id: unit === 'none' ? row.series_id : (row.series_id ?? row.id),
  };
}

/** The next to-do of a series, when this one is done. */
async function makeNext(work: Work, card: TodoCard | null, done: TodoRow, today: string): Promise<void> {
  const { sql } = work;
  const { recurrence_unit: unit, recurrence_interval: interval } = done;
  if (unit === 'none') return;
  const unfinished = await sql('todos')
    .where({ series_id: done.series_id })
    .whereNot({ status: 'done' })
    .first('id');
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
    recurrence_day: done.recurrence_day ?? recurrenceDay(unit, due),
  });
  work.emit(todoEvent(card, null, row));
}

const recurrenceDay = (unit: RecurrenceUnit, due: string | null): number | null =>
  due !== null && (unit === 'months' || unit === 'years') ? dayOf(due) : null;

function requireText(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw invalidField('description', 'required', 'must not be blank');
  return trimmed;
}

async function assignee(sql: Knex.Transaction, id: string | null): Promise<string | null> {
  return id === null ? null : (await requireActiveUser(sql, id, 'assigned_to')).id;
}
